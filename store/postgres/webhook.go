package postgres

import (
	"context"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/rules"
)

const (
	sqlWebhooks = `
SELECT version, updated_by, updated_at, spec, xmin
FROM rota_webhooks`
	sqlPutWebhooks = `
INSERT INTO rota_webhooks (id, version, updated_by, updated_at, spec)
VALUES (1, $1, $2, $3, $4)
ON CONFLICT (id) DO UPDATE
SET version = excluded.version, updated_by = excluded.updated_by, updated_at = excluded.updated_at, spec = excluded.spec`
	sqlDeleteWebhooks = `
DELETE FROM rota_webhooks`
)

func scanWebhooks(r row) (*rota.Webhooks, error) {
	h := scanWebhooksHead(r)
	return h, scanSpec(r, 3, &h.Spec, "the webhooks")
}

func scanWebhooksHead(r row) *rota.Webhooks {
	return &rota.Webhooks{Version: r.ID(0), UpdatedBy: r.Text(1), UpdatedAt: r.Time(2)}
}

func (t *tx) loadWebhooks(_ struct{}, u *rules.UnitOfWork) statement {
	t.readSet.addLookup(classWebhooks, rowKey{})
	return statement{sql: sqlWebhooks, eachRow: scanTracked(t, classWebhooks, keyOfSingle, scanWebhooks, rules.Webhooks.Into(u))}
}

func (t *tx) writeWebhooks(c rules.Change[struct{}, rota.Webhooks]) []statement {
	t.readSet.hooks.forget()
	if c.Is == nil {
		return []statement{{sql: sqlDeleteWebhooks}}
	}
	return []statement{{sql: sqlPutWebhooks, params: []param{
		idParam(c.Is.Version), textParam(c.Is.UpdatedBy), timeParam(c.Is.UpdatedAt), specParam(c.Is.Spec),
	}}}
}

// Webhooks returns the webhooks that receive all events.
func (s *reader) Webhooks(ctx context.Context) (*rota.Webhooks, error) {
	all, err := readAll(ctx, s, "webhooks", scanWebhooks, sqlWebhooks)
	if err != nil || len(all) == 0 {
		return &rota.Webhooks{}, err
	}
	return all[0], nil
}
