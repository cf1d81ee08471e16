package node

import (
	"context"
	"maps"
	"slices"

	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/payload"
	"github.com/rotajobs/rota/sql/session"
	"github.com/rotajobs/rota/sql/system"
)

// openConsole creates the console, which executes SQL for the SQL port and the API.
func (n *Node) openConsole() error {
	n.schemas = payload.NewSchemaCache()
	started := n.clock()
	n.console = session.New(session.Config{
		Store: n.store, Schemas: n.schemas, Clock: n.clock, Version: n.config.Version, Targets: targetNames(n.config.Targets),
		Nodes: func(context.Context) ([]system.Node, error) {
			pool := n.engine.Snapshot()
			return []system.Node{{
				Name: n.config.Name, State: n.state(), Leader: n.engine.Leads(), Workers: pool.Workers, Running: pool.Running,
				Version: n.config.Version, Since: started,
			}}, nil
		},
		Metrics: func(context.Context) ([]system.Metric, error) { return n.metrics.jobMetrics() },
	})
	n.onClose(n.console.Close)
	return nil
}

// state is the state of the node that sys.nodes shows.
func (n *Node) state() string {
	if n.stopping.Load() {
		return "STOPPING"
	}
	return "ACTIVE"
}

// targetNames lists the databases that jobs may name; main is always one of them.
func targetNames(named map[string]action.Target) []string {
	names := slices.Collect(maps.Keys(named))
	if _, is := named[action.MainTarget]; !is {
		names = append(names, action.MainTarget)
	}
	slices.Sort(names)
	return names
}
