package node

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// laneName is what the lane of webhooks is called beside its worker. A name of
// its own keeps what it left apart from what the worker did.
const laneName = "/webhooks"

// laneGrace is how long deliveries may go on when the node stops. They are told
// again at the next start, so that a receiver which hangs does not hold a node
// up that has nothing else to do.
const laneGrace = 2 * time.Second

// openLane makes the lane in which webhooks are delivered: an engine of its own,
// so that receivers which are slow hold back no job, and jobs which are slow no
// webhook.
func (n *Node) openLane(client *rota.Client, guard *action.Guard) {
	reg := engine.NewRegistry()
	n.sender = action.NewSender(action.SenderConfig{Guard: guard, Version: n.config.Version, Clock: n.clock})
	action.Deliveries(reg, action.WebhookConfig{Store: n.store, Sender: n.sender, Compose: httpapi.ComposeWebhook(n.store)})
	n.lane = engine.New(client, reg, engine.Config{
		Workers: n.config.WebhookWorkers, Name: n.config.Name + laneName, WorkOnly: true,
		Lease: n.config.Lease, CancelGrace: n.config.CancelGrace, ShutdownGrace: min(n.config.ShutdownGrace, laneGrace),
		Logger: n.logger, Logs: n.logs, Clock: n.clock, Events: n.feed,
	})
}
