package sqlite

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
	"zombiezen.com/go/sqlite"
)

const (
	sqlWebhooks = `
SELECT version, updated_by, updated_at, spec
FROM rota_webhooks`
	sqlPutWebhooks = `
INSERT OR ROLLBACK INTO rota_webhooks (id, version, updated_by, updated_at, spec)
VALUES (1, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, updated_by = excluded.updated_by, updated_at = excluded.updated_at, spec = excluded.spec`
	sqlDeleteWebhooks = `
DELETE FROM rota_webhooks`
	sqlTemplateWebhooks = `
SELECT name, spec
FROM rota_templates INDEXED BY rota_templates_webhooks
WHERE webhooks > 0
ORDER BY name`
)

func scanWebhooks(s *sqlite.Stmt) (*rota.Webhooks, error) {
	h := scanWebhooksHead(s)
	return h, scanSpec(s, 3, &h.Spec, "the webhooks")
}

func scanWebhooksHead(s *sqlite.Stmt) *rota.Webhooks {
	return &rota.Webhooks{Version: scanID(s, 0), UpdatedBy: s.ColumnText(1), UpdatedAt: scanTime(s, 2)}
}

func (w *writer) loadWebhooks(_ struct{}, u *rules.UnitOfWork) error {
	return w.query(sqlWebhooks, nil, scanInto(scanWebhooks, rules.Webhooks.Into(u)))
}

func (w *writer) writeWebhooks(c rules.Change[struct{}, rota.Webhooks]) error {
	w.hooks = hooksCache{}
	if c.Is == nil {
		return w.change(sqlDeleteWebhooks, func(*sqlite.Stmt) {})
	}
	return w.change(sqlPutWebhooks, func(s *sqlite.Stmt) {
		bindID(s, 1, c.Is.Version)
		bindText(s, 2, c.Is.UpdatedBy)
		bindTime(s, 3, c.Is.UpdatedAt)
		bindSpec(s, 4, c.Is.Spec)
	})
}

// Webhooks returns the webhooks that receive all events.
func (s *reader) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	all, err := readAll(ctx, s, "webhooks", sqlWebhooks, nil, scanWebhooks)
	if err != nil || len(all) == 0 {
		return &rota.Webhooks{}, err
	}
	return all[0], nil
}

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
	read := &rules.Hooks{ByTemplate: map[string][]rota.Webhook{}}
	err := firstError(
		func() error {
			return w.query(sqlWebhooks, nil, scanInto(scanWebhooks, func(h *rota.Webhooks) { read.All = h.Spec }))
		},
		func() error {
			return w.query(sqlTemplateWebhooks, nil, func(s *sqlite.Stmt) error { return scanTemplateWebhooks(s, read) })
		},
	)
	if err != nil {
		return nil, err
	}
	if len(read.All)+len(read.ByTemplate) == 0 {
		read = nil
	}
	w.hooks = hooksCache{known: true, inForce: read}
	return read, nil
}

func scanTemplateWebhooks(s *sqlite.Stmt, into *rules.Hooks) error {
	var spec struct {
		Webhooks []rota.Webhook `json:"webhooks"`
	}
	name := s.ColumnText(0)
	err := scanSpec(s, 1, &spec, "template "+name)
	into.ByTemplate[name] = spec.Webhooks
	return err
}
