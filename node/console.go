package node

import (
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/console"
	"github.com/rotajobs/rota/console/sys"
	"github.com/rotajobs/rota/payload"
)

// openConsole makes what runs SQL, for all faces that speak it.
func (n *Node) openConsole() error {
	n.book = payload.NewSchemaCache()
	started := n.clock()
	n.console = console.New(console.Config{
		Store: n.store, Schemas: n.book, Clock: n.clock, Version: n.config.Version, Targets: targetNames(n.config.Targets),
		Nodes: func(context.Context) ([]sys.Node, error) {
			pool := n.engine.Snapshot()
			return []sys.Node{{
				Name: n.config.Name, State: n.state(), Leader: n.engine.Leads(), Workers: pool.Workers, Running: pool.Running,
				Version: n.config.Version, Since: started,
			}}, nil
		},
		Metrics: func(context.Context) ([]sys.Metric, error) { return n.meters.figures() },
	})
	n.closeLast(n.console.Close)
	return nil
}

// state is how the node stands.
func (n *Node) state() string {
	if n.stopping.Load() {
		return "STOPPING"
	}
	return "ACTIVE"
}

// targetNames are the databases that jobs may name, main among them.
func targetNames(named map[string]action.Target) []string {
	names := slices.Collect(maps.Keys(named))
	if _, is := named[action.MainTarget]; !is {
		names = append(names, action.MainTarget)
	}
	slices.Sort(names)
	return names
}
