package sqlite

import (
	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

const (
	sqlWebhooks = `
SELECT spec
FROM rota_webhooks`
	sqlTemplateWebhooks = `
SELECT name, spec
FROM rota_templates INDEXED BY rota_templates_webhooks
WHERE webhooks > 0
ORDER BY name`
)

// hooksCache holds the webhooks in force as last read. Every step needs them, and mostly there are
// none. They are dropped when a transaction changes them, after a rollback, and after another
// connection has written to the file.
type hooksCache struct {
	known   bool
	inForce *rules.Hooks // nil if there are none
}

// Hooks returns the webhooks in force.
func (w *writer) Hooks() (*rules.Hooks, error) {
	if w.hooks.known {
		return w.hooks.inForce, nil
	}
	hooks := storekit.NewHooks()
	err := firstError(
		func() error { return w.Read(sqlWebhooks, hooks.AddAll) },
		func() error { return w.Read(sqlTemplateWebhooks, hooks.AddTemplate) },
	)
	if err != nil {
		return nil, err
	}
	w.hooks = hooksCache{known: true, inForce: hooks.InForce()}
	return w.hooks.inForce, nil
}
