package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/secret"
	"github.com/rotajobs/rota/store/sqlite"
)

// readAccess reads what a restore brings back: the tokens that the backup holds as valid, the keys of its secrets, and whether the signed head of the
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
	if err := a.readKeys(ctx, filepath.Dir(head), store, view); err != nil {
		return err
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

// readKeys reads which keys the secrets of the backup need, and which of them the data directory lacks. A keyset that cannot be used
// has none; the server refuses it with the reason.
func (a *app) readKeys(ctx context.Context, dir string, store rota.Reader, view *restoreView) error {
	state, err := store.SecretState(ctx)
	if err != nil || len(state.Needed) == 0 {
		return err
	}
	view.NeededKeys, view.MissingKeys = state.Needed, state.Needed
	ring, err := secret.Load(dir, a.getenv(secret.Env))
	if err != nil {
		return nil //nolint:nilerr // see above
	}
	if missing, err := ring.Missing(state.Needed); err == nil {
		view.MissingKeys = missing
	}
	return nil
}

func writeKeys(w io.Writer, view restoreView) {
	if len(view.NeededKeys) == 0 {
		return
	}
	fmt.Fprintf(w, "the secrets of the backup need these keys of master.key: %s\n", strings.Join(view.NeededKeys, ", "))
	if len(view.MissingKeys) > 0 {
		fmt.Fprintf(w, "master.key of the data directory lacks %s: put the copy from the time of the backup there (mode 0600) before the server starts, or start it with --forget-secrets\n",
			strings.Join(view.MissingKeys, ", "))
	}
}
