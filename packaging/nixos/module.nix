# A node on NixOS, from the single file of `npm run package -- --only binary`:
#
#     imports = [ ./packaging/nixos/module.nix ];
#     services.mesh = { enable = true; executable = ./mesh-linux-x64; tokenFile = "/run/keys/mesh.token"; };
{ config, lib, pkgs, ... }:
let
  cfg = config.services.mesh;
  # the file asks for the loader of other distributions
  mesh = pkgs.stdenv.mkDerivation {
    pname = "mesh";
    version = "0.1.0";
    src = cfg.executable;
    dontUnpack = true;
    # what the executable holds stands behind its end
    dontStrip = true;
    nativeBuildInputs = [ pkgs.autoPatchelfHook ];
    buildInputs = [ pkgs.stdenv.cc.cc.lib ];
    installPhase = "install -D -m 755 $src $out/bin/mesh";
    meta.mainProgram = "mesh";
  };
in
{
  options.services.mesh = {
    enable = lib.mkEnableOption "a node of a mesh VPN";
    executable = lib.mkOption {
      type = lib.types.path;
      description = "The single file of mesh for this machine.";
    };
    tokenFile = lib.mkOption {
      type = lib.types.str;
      description = "The file with the network's token, which root alone may read. Not in the store: everybody reads that.";
    };
    extraArguments = lib.mkOption {
      type = lib.types.listOf lib.types.str;
      default = [ ];
      example = [ "--address" "10.1.0.11/24" ];
      description = "Further options of mesh (docs/flags.md).";
    };
  };

  config = lib.mkIf cfg.enable {
    environment.systemPackages = [ mesh ];
    boot.kernelModules = [ "tun" ];
    systemd.services.mesh = {
      description = "mesh VPN node";
      wantedBy = [ "multi-user.target" ];
      wants = [ "network-online.target" ];
      after = [ "network-online.target" ];
      path = [ pkgs.systemd ];
      # as packaging/systemd/mesh.service
      serviceConfig = {
        Type = "notify";
        NotifyAccess = "all";
        ExecStart = "${lib.getExe mesh} --token-file \${CREDENTIALS_DIRECTORY}/token --state-dir /var/lib/mesh --log-format json ${lib.escapeShellArgs cfg.extraArguments}";
        LoadCredential = "token:${cfg.tokenFile}";
        WatchdogSec = 60;
        Restart = "on-failure";
        RestartSec = 5;
        RestartPreventExitStatus = 2;
        LimitNOFILE = 65536;
        DynamicUser = true;
        StateDirectory = "mesh";
        StateDirectoryMode = "0700";
        UMask = "0077";
        AmbientCapabilities = [ "CAP_NET_ADMIN" "CAP_NET_BIND_SERVICE" ];
        CapabilityBoundingSet = [ "CAP_NET_ADMIN" "CAP_NET_BIND_SERVICE" ];
        DevicePolicy = "closed";
        DeviceAllow = [ "/dev/net/tun rw" ];
        NoNewPrivileges = true;
        ProtectSystem = "strict";
        ProtectHome = true;
        PrivateTmp = true;
        RestrictNamespaces = true;
        SystemCallArchitectures = "native";
        SystemCallFilter = "@system-service";
      };
    };
  };
}
