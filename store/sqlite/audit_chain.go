package sqlite

import (
	"context"
	"math"
	"time"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/internal/storekit"
	"zombiezen.com/go/sqlite"
)

var _ rota.AuditChain = (*Store)(nil)

var sqlAuditByID = storekit.Audit.Select() + `
WHERE id = $1`

const sqlDeleteUnsealed = `
DELETE FROM rota_audit_unsealed
WHERE n <= $1`

// sealAudit seals the entries that the transaction has written. There is one writer, so the head of the
// chain does not move in between.
func (w *writer) sealAudit() error {
	if len(w.audit) == 0 {
		return nil
	}
	head, err := storekit.ChainHead(writing{w})
	if err != nil {
		return err
	}
	return w.insertSeals(storekit.SealEntries(&head, w.audit))
}

func (w *writer) insertSeals(seals []storekit.Seal) error {
	for i := range seals {
		if err := w.change(storekit.SQLInsertSeal, seals[i].Args()...); err != nil {
			return err
		}
	}
	return nil
}

// SealAudit seals entries that an earlier version has written. Open has sealed them already, unless the store
// was opened as the target of a copy.
func (s *Store) SealAudit(ctx context.Context, max int) (sealed int, err error) {
	if s.sealed.Load() {
		return 0, ctx.Err()
	}
	err = s.write(ctx, "seal audit", func(w *writer) error {
		sealed, err = w.sealOld(max)
		return err
	})
	s.sealed.Store(err == nil && sealed == 0)
	return sealed, err
}

// sealExisting seals all entries that were written before the chain existed, in pages. If the process ends
// meanwhile, the next Open continues.
func (w *writer) sealExisting() error {
	for {
		sealed := 0
		err := w.inTransaction(context.Background(), func() (err error) {
			sealed, err = w.sealOld(rota.SealMax)
			return err
		})
		if err != nil || sealed == 0 {
			return err
		}
	}
}

// sealOld seals the first unsealed entries.
func (w *writer) sealOld(limit int) (sealed int, err error) {
	on := writing{w}
	var ids []rota.ID
	last := int64(math.MinInt64)
	err = on.Query(storekit.Query{SQL: storekit.SQLUnsealed, Args: []any{last, limit}, Each: func(r storekit.Row) error {
		if len(ids) < limit {
			last, ids = r.Int(0), append(ids, storekit.SplitIDs(r.Bytes(1))...)
		}
		return nil
	}})
	if err != nil || len(ids) == 0 {
		return 0, err
	}
	head, err := storekit.ChainHead(on)
	if err != nil {
		return 0, err
	}
	entries, err := storekit.EntriesByID(on, ids)
	if err != nil {
		return 0, err
	}
	return len(ids), firstError(
		func() error { return w.insertSeals(storekit.SealEntries(&head, entries)) },
		func() error { return w.change(sqlDeleteUnsealed, last) },
	)
}

// PruneAudit removes the first entries of the chain that are before a time.
func (s *Store) PruneAudit(ctx context.Context, before time.Time, limit int, sign rota.AnchorSigner) (removed int, err error) {
	err = s.write(ctx, "prune audit", func(w *writer) error {
		p, err := storekit.FindPruned(writing{w}, before, limit, sign)
		if err != nil || p == nil {
			return err
		}
		if err = w.pruneAudit(p); err == nil {
			removed = len(p.IDs)
		}
		return err
	})
	return removed, err
}

// pruneAudit removes entries of the chain, and stores the anchor that replaces them.
func (w *writer) pruneAudit(p *storekit.PrunedAudit) error {
	return firstError(
		func() error { return p.Move(writing{w}) },
		each(p.IDs, func(id rota.ID) error { return w.change(sqlDeleteAudit, id) }),
		func() error { return w.change(storekit.SQLDeleteSeals, p.Anchor.Seq) },
	)
}

// VerifyAudit checks the chain on a connection of its own.
func (s *Store) VerifyAudit(ctx context.Context, trust rota.AuditTrust) (report rota.AuditReport, err error) {
	err = s.withOwnConn(ctx, "verify audit", func(conn *sqlite.Conn) error {
		report, err = storekit.VerifyChain(querier{conn}, trust)
		return err
	})
	return report, err
}

// write calls use in a transaction of the writer.
func (s *Store) write(ctx context.Context, act string, use func(*writer) error) error {
	if s.config.ReadOnly {
		return &rota.Error{Code: rota.Conflict, Act: "sqlite: " + act, Reason: "the store is open read-only", Hint: "open it without ReadOnly to change it"}
	}
	w, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer s.release(w)
	return fault(act, w.inTransaction(ctx, func() error { return use(w) }))
}

// inTransaction calls change in a transaction. However it ends, no transaction stays open.
func (w *writer) inTransaction(ctx context.Context, change func() error) error {
	if err := w.begin(ctx); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			w.rollback()
		}
	}()
	err := change()
	if err == nil {
		err = w.exec(sqlCommit)
	}
	committed = err == nil
	return err
}

// writing executes the queries of the chain on the connection of the writer.
type writing struct{ w *writer }

func (o writing) Query(queries ...storekit.Query) error {
	for _, q := range queries {
		if err := o.w.Read(q.SQL, q.Each, q.Args...); err != nil {
			return err
		}
	}
	return nil
}

func (o writing) AuditEntries(ids []rota.ID, each func(storekit.Row) error) error {
	return o.Query(auditQueries(ids, each)...)
}

// AuditEntries reads audit entries by their ids.
func (q querier) AuditEntries(ids []rota.ID, each func(storekit.Row) error) error {
	return q.Query(auditQueries(ids, each)...)
}

// AuditEntries reads audit entries by their ids.
func (v verified) AuditEntries(ids []rota.ID, each func(storekit.Row) error) error {
	return querier(v).AuditEntries(ids, each)
}

func auditQueries(ids []rota.ID, each func(storekit.Row) error) []storekit.Query {
	queries := make([]storekit.Query, len(ids))
	for i, id := range ids {
		queries[i] = storekit.Query{SQL: sqlAuditByID, Args: []any{id}, Each: each}
	}
	return queries
}
