package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/postgres"
)

// pgChainCase is chainCase on PostgreSQL.
const pgChainCase = "postgres/chain"

func pgChainBenchmarks() (all []benchmark) {
	for _, w := range chainWorks() {
		caseName := pgChainCase + "/" + w.name
		all = append(all, benchmark{
			cases: []string{caseName},
			bars:  []bar{{caseName: caseName, subject: unchained, against: chained, least: chainLeast}},
			run:   func(b *bench) error { return runPgChain(b, caseName, w) },
		})
	}
	return all
}

// sqlDropUnseal removes the trigger that records entries to be sealed.
const sqlDropUnseal = `DROP TRIGGER audit_unseal ON rota.audit`

func runPgChain(b *bench, caseName string, w chainWork) (err error) {
	b.report.explain(pgChainCase+": what is measured", fmt.Sprintf(
		"The processor time per command of this process and of the server. %q seals its entries once in each turn, as the leader does every half second.\n"+
			"%q has no trigger that records what is to be sealed: %s.", chained, unchained, sqlDropUnseal))
	var subjects []turnSubject
	for _, name := range []string{chained, unchained} {
		db, err := b.database("chain_" + w.name + "_" + name)
		if err != nil {
			return err
		}
		defer db.drop()
		store, err := postgres.OpenWith(db.url, db.config())
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, store.Close()) }()
		if name == unchained {
			if err := db.execute(b.ctx, sqlDropUnseal); err != nil {
				return err
			}
		}
		writer, n := &chainWriter{store: store}, b.sized(w.count, 4)
		subjects = append(subjects, turnSubject{name, func(ctx context.Context) (float64, error) {
			var used cost
			err := writer.turn(ctx, w.name, n, func(f func() error) error {
				return used.measure(ctx, db.server, nil, func() error { return errors.Join(f(), sealAll(ctx, store)) })
			})
			return (used.processor + used.server).Seconds() * 1e6 / float64(n), err
		}})
	}
	return b.takeTurns(caseName, "processor time of client and server per "+w.entry, subjects...)
}

// sealAll seals the entries that wait, if there are any.
func sealAll(ctx context.Context, store rota.AuditChain) error {
	for {
		sealed, err := store.SealAudit(ctx, rota.SealMax)
		if err != nil || sealed == 0 {
			return err
		}
	}
}

func (d *database) execute(ctx context.Context, sql string) error {
	conn, err := pgx.Connect(ctx, d.url)
	if err != nil {
		return err
	}
	_, err = conn.Exec(ctx, sql)
	return errors.Join(err, conn.Close(ctx))
}
