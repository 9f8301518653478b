@echo off
rem The command line `mesh` of this checkout, for Windows: runs the built node with the workspace's own Node.js.
setlocal
set "MESH_CHECKOUT=%~dp0"
set "MESH_COMMAND=.\mesh"
if not exist "%MESH_CHECKOUT%apps\node\dist\main.js" goto missing
call "%MESH_CHECKOUT%node_modules\.bin\node" "%MESH_CHECKOUT%apps\node\dist\main.js" %*
exit /b %ERRORLEVEL%
:missing
echo mesh: this checkout is not built yet: run "npm run setup" in %MESH_CHECKOUT% first 1>&2
exit /b 1
