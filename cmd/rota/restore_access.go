package main

import (
	"context"
	"os"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/store/sqlite"
)

// readAccess reads what a restore brings back: the tokens that the backup holds as valid, and whether the signed head of the
// data directory is about entries that the backup does not have.
func (a *app) readAccess(ctx context.Context, head, copied string, view *restoreView) error {
	store, err := sqlite.OpenWith(copied, sqlite.Config{ReadOnly: true})
	if err != nil {
		return err
	}
	defer store.Close()
	for after := ""; ; {
		tokens, err := store.AccessTokens(ctx, rota.TokenQuery{After: after, Limit: rota.PageMax})
		if err != nil {
			return err
		}
		for _, t := range tokens {
			if after = t.ID; t.UsableAt(a.now()) {
				view.UsableTokens++
			}
		}
		if len(tokens) < rota.PageMax {
			break
		}
	}
	text, err := os.ReadFile(head)
	if err != nil {
		return nil // there is none
	}
	heads, err := rota.ParseAuditHeads(text)
	if err != nil {
		return nil // the server refuses it with the reason
	}
	trust := rota.AuditTrust{}
	for i := range heads {
		trust.Add(&heads[i])
	}
	report, err := store.VerifyAudit(ctx, trust)
	if err == nil && report.Fault != nil {
		view.OtherHead = head
	}
	return err
}
