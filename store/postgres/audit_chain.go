package postgres

import (
	"context"
	"math"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
)

var _ rota.AuditChain = (*Store)(nil)

const (
	// The row of the anchor is the lock of the chain. A transaction that writes entries does not take it.
	sqlLockChain = `
SELECT 1
FROM rota_audit_anchor
FOR UPDATE`
	sqlHasUnsealed = `
SELECT EXISTS (SELECT FROM rota_audit_unsealed)`
	sqlDeleteUnsealed = `
DELETE FROM rota_audit_unsealed
WHERE n = ANY ($1)`
	sqlDeleteAudit = `
DELETE FROM rota_audit
WHERE id = ANY ($1)`
)

var sqlAuditByIDs = storekit.Audit.Select() + `
WHERE id = ANY ($1)`

// SealAudit seals the entries that are committed, in the order in which they were written. It does not wait
// for the transactions that run: their entries are sealed after they have committed.
func (s *Store) SealAudit(ctx context.Context, max int) (sealed int, err error) {
	waiting := false
	err = s.query(ctx, "seal audit", withoutSeqScan, statement{sql: sqlHasUnsealed, eachRow: func(r row) error {
		waiting = r.Bool(0)
		return nil
	}})
	if err != nil || !waiting {
		return 0, err
	}
	err = s.changeChain(ctx, "seal audit", func(on querier) (statements []statement, err error) {
		sealed, statements, err = sealUnsealed(on, max)
		return statements, err
	})
	return sealed, err
}

// sealUnsealed returns the statements that seal the first unsealed entries.
func sealUnsealed(on querier, limit int) (sealed int, statements []statement, err error) {
	var rows []int64
	var ids []rota.ID
	err = on.Query(storekit.Query{SQL: storekit.SQLUnsealed, Args: []any{int64(math.MinInt64), limit}, Each: func(r storekit.Row) error {
		if len(ids) < limit {
			rows, ids = append(rows, r.Int(0)), append(ids, storekit.SplitIDs(r.Bytes(1))...)
		}
		return nil
	}})
	if err != nil || len(ids) == 0 {
		return 0, nil, err
	}
	head, err := storekit.ChainHead(on)
	if err != nil {
		return 0, nil, err
	}
	entries, err := storekit.EntriesByID(on, ids)
	if err != nil {
		return 0, nil, err
	}
	seals := storekit.SealEntries(&head, entries)
	for i := range seals {
		statements = append(statements, statementOf(storekit.SQLInsertSeal, nil, seals[i].Args()))
	}
	return len(ids), append(statements, statement{sql: sqlDeleteUnsealed, params: []param{intsParam(rows)}}), nil
}

// PruneAudit removes the first entries of the chain that are before a time.
func (s *Store) PruneAudit(ctx context.Context, before time.Time, limit int, sign rota.AnchorSigner) (removed int, err error) {
	err = s.changeChain(ctx, "prune audit", func(on querier) ([]statement, error) {
		p, err := storekit.FindPruned(on, before, limit, sign)
		if err != nil || p == nil {
			return nil, err
		}
		if err := p.Move(on); err != nil {
			return nil, err
		}
		removed = len(p.IDs)
		return []statement{
			{sql: sqlDeleteAudit, params: []param{idsParam(p.IDs)}},
			statementOf(storekit.SQLDeleteSeals, nil, []any{p.Anchor.Seq}),
		}, nil
	})
	return removed, err
}

// changeChain takes the lock of the chain, and executes the statements that decide returns, in one
// transaction. Each statement sees what was committed before it, also by the last holder of the lock.
func (s *Store) changeChain(ctx context.Context, act string, decide func(querier) ([]statement, error)) error {
	if s.config.ReadOnly {
		return &rota.Error{Code: rota.Conflict, Act: "postgres: " + act, Reason: "the store is opened read-only", Hint: "open it without ReadOnly to change it"}
	}
	ctx, done := context.WithTimeout(ctx, applyMax)
	defer done()
	return s.withPoolConn(ctx, act, func(c *session) error {
		defer c.endTransaction(ctx)
		settings := []param{textNotNull(lockTimeout), textNotNull(statementTimeout), textNotNull(idleTimeout)}
		err := c.send(ctx, statement{sql: sqlBegin}, statement{sql: sqlSettings, params: settings}, statement{sql: sqlLockChain})
		if err != nil {
			return err
		}
		statements, err := decide(querier{c, ctx})
		if err != nil || len(statements) == 0 {
			return err
		}
		return c.send(ctx, append(statements, statement{sql: sqlCommit})...)
	})
}

// VerifyAudit checks the chain on one snapshot.
func (s *Store) VerifyAudit(ctx context.Context, trust rota.AuditTrust) (report rota.AuditReport, err error) {
	err = s.withSnapshot(ctx, "verify audit", func(c *session, ctx context.Context) error {
		if err := c.send(ctx, withoutJIT); err != nil {
			return err
		}
		report, err = storekit.VerifyChain(querier{c, ctx}, trust)
		return err
	})
	return report, err
}

// AuditEntries reads audit entries by their ids.
func (q querier) AuditEntries(ids []rota.ID, each func(storekit.Row) error) error {
	return q.send(q.ctx, statement{sql: sqlAuditByIDs, params: []param{idsParam(ids)}, eachRow: func(r row) error { return each(r) }})
}

// AuditEntries reads audit entries by their ids.
func (v verified) AuditEntries(ids []rota.ID, each func(storekit.Row) error) error {
	return querier(v).AuditEntries(ids, each)
}
