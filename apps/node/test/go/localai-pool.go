// Localai-pool is one side of LocalAI's worker or federated pool, by LocalAI's own package. It is built inside a copy of
// LocalAI. The token is in TOKEN; LOCALAI_P2P_* are LocalAI's own variables.
//
// Usage: localai-pool expose BUCKET HOST PORT | localai-pool discover BUCKET | localai-pool federate BUCKET LISTEN.
// `discover` prints a line of JSON for each sighting of a worker, with the address of the tunnel to it.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/mudler/LocalAI/core/p2p"
	"github.com/mudler/LocalAI/core/schema"
)

func main() {
	ctx, token := context.Background(), os.Getenv("TOKEN")
	mode, bucket := os.Args[1], os.Args[2]
	if err := run(ctx, token, mode, bucket); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	select {}
}

func run(ctx context.Context, token, mode, bucket string) error {
	switch mode {
	case "expose":
		_, err := p2p.ExposeService(ctx, os.Args[3], os.Args[4], token, bucket)
		return err
	case "federate":
		return p2p.NewFederatedServer(os.Args[3], bucket, token, false, "").Start(ctx)
	}
	node, err := p2p.NewNode(token)
	if err != nil {
		return err
	}
	if err := node.Start(ctx); err != nil {
		return err
	}
	tell := func(_ string, worker schema.NodeData) {
		line, _ := json.Marshal(worker)
		fmt.Println(string(line))
	}
	return p2p.ServiceDiscoverer(ctx, node, token, bucket, tell, true)
}
