// Kairos-roles takes part in Kairos' role assignment over the API of a node: its own packages elect a leader and give
// roles, and small handlers stand in for k3s. It is built inside a copy of provider-kairos, whose packages are internal.
//
// Usage: kairos-roles UUID API_ADDRESS. It prints one line of JSON when it has done what its role asks for.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/ipfs/go-log"
	config "github.com/kairos-io/provider-kairos/v2/internal/provider/config"
	"github.com/kairos-io/provider-kairos/v2/internal/role"
	p2p "github.com/kairos-io/provider-kairos/v2/internal/role/p2p"
	"github.com/mudler/edgevpn/api/client"
	"github.com/mudler/edgevpn/api/client/service"
)

var kubeconfig = "apiVersion: v1\nclusters:\n" + strings.Repeat("- cluster: {server: https://10.1.0.1:6443}\n", 80)

func tell(done map[string]string) error {
	line, err := json.Marshal(done)
	fmt.Println(string(line))
	return err
}

func master(c *service.RoleConfig) error {
	facts := [][3]string{
		{"ip", c.UUID, "10.1.0.1"},
		{"role", c.UUID, p2p.RoleMaster},
		{"nodetoken", "token", "K10::server:secret"},
		{"kubeconfig", "master", kubeconfig},
		{"master", "ip", "10.1.0.1"},
	}
	for _, fact := range facts {
		if err := c.Client.Set(fact[0], fact[1], fact[2]); err != nil {
			return err
		}
	}
	return tell(map[string]string{"Role": p2p.RoleMaster, "UUID": c.UUID})
}

func worker(c *service.RoleConfig) error {
	ip, _ := c.Client.Get("master", "ip")
	token, _ := c.Client.Get("nodetoken", "token")
	held, _ := c.Client.Get("kubeconfig", "master")
	if ip == "" || token == "" || held != kubeconfig {
		return nil
	}
	return tell(map[string]string{"Role": p2p.RoleWorker, "UUID": c.UUID, "MasterIP": ip, "Token": token})
}

func main() {
	uuid, address := os.Args[1], os.Args[2]
	settings := &config.Config{P2P: &config.P2P{MinimumNodes: 3}}
	node, err := service.NewNode(
		service.WithMinNodes(settings.P2P.MinimumNodes),
		service.WithLogger(log.Logger("roles")),
		service.WithClient(service.NewClient("kairos", client.NewClient(client.WithHost(address)))),
		service.WithUUID(uuid),
		service.WithStateDir(os.TempDir()+"/"+uuid),
		service.WithNetworkToken("not used"),
		service.WithPersistentRoles(p2p.RoleAuto),
		service.WithRoles(
			service.RoleKey{Role: p2p.RoleMaster, RoleHandler: master},
			service.RoleKey{Role: p2p.RoleWorker, RoleHandler: worker},
			service.RoleKey{Role: p2p.RoleAuto, RoleHandler: role.Auto(nil, settings)},
		),
	)
	if err == nil {
		err = node.Start(context.Background())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
