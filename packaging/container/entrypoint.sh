#!/bin/sh
# The VPN (`mesh` with options alone) gets NET_ADMIN where the container has it. Without, the node says what is missing.
# Every other command needs no capability.
case ${1-} in
  '' | -*)
    if /usr/libexec/mesh/setpriv --inh-caps=+net_admin --ambient-caps=+net_admin true 2>/dev/null; then
      exec /usr/libexec/mesh/setpriv --inh-caps=+net_admin --ambient-caps=+net_admin mesh "$@"
    fi
    ;;
esac
exec mesh "$@"
