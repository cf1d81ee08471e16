package node

import (
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/action"
	"github.com/rotajobs/rota/engine"
	"github.com/rotajobs/rota/httpapi"
)

// deliverySuffix is appended to the worker's name to name the delivery engine. A
// separate name keeps its runs apart from those of the worker at recovery.
const deliverySuffix = "/webhooks"

// deliveryGrace is how long deliveries may continue when the node stops. It is
// short, because the next start repeats them: a receiver that hangs must not delay
// the stop of a node that is otherwise idle.
const deliveryGrace = 2 * time.Second

// openDeliveryEngine creates the engine that delivers webhooks. It has workers of
// its own, so that slow receivers delay no job and slow jobs delay no webhook.
func (n *Node) openDeliveryEngine(client *rota.Client, guard *action.Guard) {
	reg := engine.NewRegistry()
	n.sender = action.NewSender(action.SenderConfig{Guard: guard, Version: n.config.Version, Clock: n.clock})
	action.Deliveries(reg, action.WebhookConfig{Store: n.store, Sender: n.sender, Compose: httpapi.ComposeWebhook(n.store)})
	n.deliveryEngine = engine.New(client, reg, engine.Config{
		Workers: n.config.WebhookWorkers, Name: n.config.Name + deliverySuffix, WorkOnly: true,
		Lease: n.config.Lease, CancelGrace: n.config.CancelGrace, ShutdownGrace: min(n.config.ShutdownGrace, deliveryGrace),
		Logger: n.logger, Logs: n.logs, Clock: n.clock, Events: n.events,
	})
}
