package postgres

import (
	"sync"

	"github.com/rotajobs/rota/internal/rules"
	"github.com/rotajobs/rota/internal/storekit"
)

// The webhook cache is a fast path of every step, since every step may have events to deliver. The
// plain way reads the webhooks in force in each transaction. The fast path keeps them with their
// stamp, and assumes that they are unchanged as long as the stamp is. The first read of a
// transaction returns the stamp with the time; on the idle path the check before the writes compares
// it. With another stamp the transaction reads the webhooks.

const (
	// The stamp changes whenever the webhooks change, and is empty if there were never any. It
	// contains the transaction ids of the rows, so that a rolled back change never has the stamp of
	// a committed one.
	sqlHooksStamp = `
SELECT concat(
  (SELECT concat(version, ' ', xmin)
    FROM rota_webhooks),
  (SELECT encode(sha256(convert_to(string_agg(concat(version, ' ', xmin, ' ', name), E'\n' ORDER BY name), 'UTF8')), 'hex')
    FROM rota_templates
    WHERE webhooks > 0)) AS stamp`
	// One snapshot for the stamp and the webhooks, so that they belong together.
	sqlHooks = `
SELECT s.stamp, h.name, h.spec
FROM (` + sqlHooksStamp + `) s
LEFT JOIN (
  SELECT NULL AS name, spec
  FROM rota_webhooks
  UNION ALL
  SELECT name, spec
  FROM rota_templates
  WHERE webhooks > 0
) h ON true`
)

// hooksCache holds the webhooks in force as last read by any batch. Every batch needs them, and
// mostly there are none.
type hooksCache struct {
	mu      sync.Mutex
	stamp   string
	inForce *rules.Hooks // nil without webhooks
}

func (c *hooksCache) get(stamp string) (inForce *rules.Hooks, known bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.inForce, c.stamp == stamp
}

func (c *hooksCache) set(stamp string, inForce *rules.Hooks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stamp, c.inForce = stamp, inForce
}

// hooksState is what a transaction knows of the webhooks: their stamp at its beginning, and the
// webhooks once they are read. A change of webhooks resets it.
type hooksState struct {
	stamped, known bool
	stamp          string
	inForce        *rules.Hooks
}

func (h *hooksState) forget() { *h = hooksState{} }

// Hooks returns the webhooks in force.
func (t *tx) Hooks() (*rules.Hooks, error) {
	h := &t.readSet.hooks
	if h.stamped && !h.known && t.store.uses(WebhookCache) {
		h.inForce, h.known = t.store.hooks.get(h.stamp)
	}
	if !h.known {
		if err := t.readHooks(); err != nil {
			return nil, err
		}
	}
	return h.inForce, nil
}

func (t *tx) readHooks() error {
	hooks, stamp := storekit.NewHooks(), ""
	err := t.read(statement{sql: sqlHooks, eachRow: func(r row) error {
		stamp = r.Text(0)
		switch {
		case r.Null(2):
			return nil
		case r.Null(1):
			return hooks.AddAll(storekit.From(r, 2))
		}
		return hooks.AddTemplate(storekit.From(r, 1))
	}})
	if err != nil {
		return err
	}
	t.readSet.hooks = hooksState{stamped: true, known: true, stamp: stamp, inForce: hooks.InForce()}
	t.store.hooks.set(stamp, hooks.InForce())
	return nil
}
