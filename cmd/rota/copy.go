package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/store/dynamo"
	"github.com/rotajobs/rota/store/postgres"
	"github.com/rotajobs/rota/store/sqlite"
	"github.com/rotajobs/rota/store/transfer"
)

const copyExample = `  rota copy --from sqlite:rota-data/rota.db --to postgres://rota@db/rota            # what waits
  rota copy --from sqlite:rota-data/rota.db --to postgres://rota@db/rota --history  # everything
  rota copy --from postgres://rota@db/rota --to sqlite:rota.db --history`

// copyOptions holds the flags.
type copyOptions struct {
	from, to string
	history  bool
	restart  bool
	links    bool
}

func newCopyCommand(a *app) *cobra.Command {
	var opts copyOptions
	cmd := &cobra.Command{
		Use:   "copy --from URL --to URL",
		Short: "Move a stopped store into an empty one, of the same or another kind",
		Long: `Copy definitions, access and everything that waits into an empty store: types, templates, schedules, limits, webhooks
with their secrets; users with their passwords, roles, grants and tokens; jobs that have not ended, dead letters, unique keys and
idempotency keys, with all ids, positions, versions, owners and times. Stop every server of both stores first.

With --history, also copy jobs that have ended and the whole audit with its chain. Without it, the copy takes only those
audit entries that are not older than the oldest idempotency key, and a new chain begins with them.

The command compares the rows of both stores at the end and checks the copy as rota verify does. Then it marks the source as
moved: a server does not start with it unless --allow-moved is given, which removes the mark. Until the copy is complete, no server starts with the
target, and the source stays unchanged. A copy that was interrupted resumes when the same command runs again.

A job that was running when its server stopped is copied with its lease, and is retried when that ends. Run logs are not
copied: logs in files and the other files of a data directory stay there, and logs in a store on PostgreSQL or DynamoDB stay in that
store. A DynamoDB table must hold no store yet; a copy into it that was interrupted begins again.`,
		Example: copyExample,
		Args:    noArgs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return untilSignal(cmd, func(ctx context.Context) error { return a.copy(ctx, opts) })
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&opts.from, "from", "", "`URL` of the store to copy, such as sqlite:rota-data/rota.db, postgres://… or dynamodb://…")
	flags.StringVar(&opts.to, "to", "", "`URL` of the empty store to copy it into")
	flags.BoolVar(&opts.history, "history", false, "also copy what has ended, and the whole audit with its chain")
	flags.BoolVar(&opts.restart, "restart", false, "discard what an interrupted copy has written into the target, and begin again")
	flags.BoolVar(&opts.links, "allow-links", false, "write to an SQLite store even if its file has a second name (a hard link)")
	return cmd
}

func (a *app) copy(ctx context.Context, opts copyOptions) error {
	if sameStore(opts.from, opts.to) {
		return usagef("name an empty store with --to", "--from and --to name the same store")
	}
	from, err := openCopySource(ctx, opts.from, opts.links)
	if err != nil {
		return err
	}
	defer from.Close()
	to, err := openCopyTarget(ctx, opts.to, "--to", opts.links)
	if err != nil {
		return err
	}
	defer to.Close()
	result, err := a.transfer(ctx, from, to, transfer.Options{History: opts.history, Restart: opts.restart})
	if err != nil {
		return err
	}
	return a.print(result, func(w io.Writer) { writeCopy(w, result) })
}

// sameStore reports whether two URLs are equal or name the same file.
func sameStore(from, to string) bool {
	was, err := os.Stat(strings.TrimPrefix(from, "sqlite:"))
	is, isErr := os.Stat(strings.TrimPrefix(to, "sqlite:"))
	return from != "" && from == to || err == nil && isErr == nil && os.SameFile(was, is)
}

// transfer copies a store and shows the progress.
func (a *app) transfer(ctx context.Context, from transfer.Source, to transfer.Target, o transfer.Options) (*transfer.Result, error) {
	progress := &copyProgress{bar: a.newProgress(), w: a.err}
	o.Progress, o.Now = progress.report, a.now()
	if table, is := to.(*dynamo.TransferTarget); is {
		o.Also = both(o.Also, table.Prepare)
	}
	result, err := transfer.Copy(ctx, from, to, o)
	progress.bar.clear()
	switch {
	case errors.Is(err, transfer.ErrNotClean):
		return nil, failf(exitNotClean, "check the source with rota verify --store", "%w", err)
	case err != nil && ctx.Err() != nil:
		return nil, failf(exitFailed, "run the same command again, which resumes the copy", "interrupted: the copy is not complete")
	}
	return result, err
}

// both calls two functions, of which the first may be nil.
func both(first, second func(context.Context) error) func(context.Context) error {
	return func(ctx context.Context) error {
		if first != nil {
			if err := first(ctx); err != nil {
				return err
			}
		}
		return second(ctx)
	}
}

type copySource interface {
	transfer.Source
	io.Closer
}

type copyTarget interface {
	transfer.Target
	io.Closer
}

func openCopySource(ctx context.Context, url string, allowLinks bool) (copySource, error) {
	switch {
	case isPostgres(url):
		return opened[copySource](postgres.OpenTransferSource(url))
	case isDynamo(url):
		return opened[copySource](dynamo.OpenTransferSource(ctx, url, dynamo.Config{Logger: discardLogger()}))
	}
	path, err := copyPath(url, "--from")
	if err != nil {
		return nil, err
	}
	if err := checkStoreFile(path); err != nil {
		return nil, err
	}
	source, err := sqlite.OpenTransferSource(path, sqlite.TransferConfig{AllowLinks: allowLinks})
	return opened[copySource](source, storeError(path, err))
}

func openCopyTarget(ctx context.Context, url, flag string, allowLinks bool) (copyTarget, error) {
	switch {
	case isPostgres(url):
		return opened[copyTarget](postgres.OpenTransferTarget(url))
	case isDynamo(url):
		return opened[copyTarget](dynamo.OpenTransferTarget(ctx, url, dynamo.Config{Logger: discardLogger()}))
	}
	path, err := copyPath(url, flag)
	if err != nil {
		return nil, err
	}
	if err := checkParentDir(path); err != nil {
		return nil, err
	}
	return opened[copyTarget](sqlite.OpenTransferTarget(path, sqlite.TransferConfig{AllowLinks: allowLinks}))
}

// opened returns a nil interface with an error, not a nil pointer in an interface.
func opened[I any, S any](store S, err error) (none I, _ error) {
	if err != nil {
		return none, err
	}
	return any(store).(I), nil
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// copyPath returns the file of a sqlite: URL.
func copyPath(url, flag string) (string, error) {
	path, isFile := strings.CutPrefix(url, "sqlite:")
	hint := "write " + flag + " sqlite:PATH, " + flag + " postgres://HOST/DATABASE or " + flag + " dynamodb://TABLE"
	switch {
	case url == "":
		return "", usagef(hint, "%s is missing", flag)
	case !isFile && strings.Contains(url, "://"): // it may contain a password
		return "", usagef(hint, "%s is not the URL of a store", flag)
	case !isFile:
		return "", usagef(hint, "%s %s is not the URL of a store", flag, url)
	case path == "":
		return "", usagef(hint, "%s sqlite: has no file name", flag)
	}
	return path, nil
}

// copyLineEvery is the time between two lines of progress.
const copyLineEvery = 10 * time.Second

// copyProgress shows the progress of a copy: a bar on a terminal, otherwise a line for each step and at intervals.
type copyProgress struct {
	bar  *progress
	w    io.Writer
	step transfer.Step
	last time.Time
}

func (p *copyProgress) report(at transfer.Progress) {
	if p.bar.w != nil {
		p.bar.bar(at.Rows, at.Total, "%s %s: %d of %d rows", at.Step, at.Table, at.Rows, at.Total)
		return
	}
	now := time.Now()
	switch {
	case at.Step != p.step:
		p.step = at.Step
		fmt.Fprintf(p.w, "%s %s\n", at.Step, plural(int(at.Total), "row", "rows"))
	case now.Sub(p.last) >= copyLineEvery:
		fmt.Fprintf(p.w, "%s %s: %d of %d rows, %d%%\n", at.Step, at.Table, at.Rows, at.Total, 100*at.Rows/max(1, at.Total))
	default:
		return
	}
	p.last = now
}

func writeCopy(w io.Writer, result *transfer.Result) {
	fmt.Fprintf(w, "copied %s to %s: %s\n", result.From, result.To, copiedRows(result))
	fmt.Fprintln(w, "the rows of both stores are equal, and the copy violates no invariant")
	if !result.History {
		fmt.Fprintln(w, "left out: jobs that have ended, older entries of the audit, and its chain; --history copies them")
	}
	fmt.Fprintln(w, "left out: run logs, and the other files of the data directory")
	fmt.Fprintf(w, "%s is marked as moved: rota serve starts with it only with --allow-moved\n", result.From)
}

// copiedRows lists how many rows each table has.
func copiedRows(result *transfer.Result) string {
	parts := []string{plural(int(result.Rows), "row", "rows")}
	for _, t := range result.Tables {
		if t.Rows > 0 && t.Table != "audit_anchor" { // every store has its row
			parts = append(parts, fmt.Sprintf("%s %d", t.Table, t.Rows))
		}
	}
	if result.Resumed {
		parts = append(parts, fmt.Sprintf("of which this run wrote %d", result.Written))
	}
	return strings.Join(parts, ", ")
}
