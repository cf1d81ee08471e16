package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func newAuditCommand(a *app) *cobra.Command {
	return newParentCommand("audit", "Read the audit log: who changed what", newAuditListCommand(a), newAuditVerifyCommand(a), newAuditExportCommand(a))
}

// auditFlags holds the filters of the audit.
type auditFlags struct {
	filters filters
	search  searchFlags
	acts    []string
}

func (f *auditFlags) flags(cmd *cobra.Command) {
	f.filters = filters{}
	f.search.flags(cmd, "entries")
	cmd.Flags().StringSliceVar(&f.acts, "act", nil, "only these `ACTS`, such as JOB_FAILED,JOB_CANCELLED")
	refuseEmpty(cmd, "act")
	completeFrom(cmd, "act", rota.AuditActs)
	f.filters.add(cmd, "actor", "only acts of `ACTOR`")
	f.filters.add(cmd, "subject", "only entries about `SUBJECT`, such as \"schedule nightly\"")
	f.filters.add(cmd, "schedule", "only entries about schedule `NAME` and its jobs")
	f.filters.add(cmd, "execution", "only entries about the jobs of execution `ID`")
}

// query returns the parameters of the request.
func (f *auditFlags) query(ctx context.Context, a *app) (url.Values, error) {
	query := f.filters.query()
	if err := a.resolveFilters(ctx, query); err != nil {
		return nil, err
	}
	if err := f.search.fill(a, query); err != nil {
		return nil, err
	}
	for i, act := range f.acts {
		f.acts[i] = strings.ToUpper(act)
		if !slices.Contains(rota.AuditActs, f.acts[i]) {
			return nil, usagef("the acts are "+strings.Join(rota.AuditActs, ", "), "--act %s is not an act of the audit", shortened(act))
		}
	}
	if len(f.acts) > 0 {
		query.Set("act", strings.Join(f.acts, ","))
	}
	return query, nil
}

func newAuditListCommand(a *app) *cobra.Command {
	var flags auditFlags
	var pages listFlags
	list := listing[api.AuditEntry]{
		path: "/audit", heads: []string{"WHEN", "ACTOR", "ACT", "OUTCOME", "~SUBJECT", "~CHANGES", "~DETAIL"},
		drop: []string{"DETAIL", "CHANGES"},
		row: func(e api.AuditEntry) []string {
			return []string{
				a.timestamp(e.At.Time), string(e.Actor), e.Act, string(e.Outcome), auditSubject(e), changedFields(e.Changes), firstLineShort(string(e.Detail)),
			}
		},
	}
	cmd := &cobra.Command{
		Use: "list", Short: "List audit entries, newest first", Args: noArgs(),
		Long: `List audit entries, newest first: changes of definitions and limits, jobs that a caller enqueued, changed or
cancelled, and the end of every run. The column CHANGES names the fields that changed; --output json shows their old
and new values.`,
		Example: "  rota audit list --limit 20\n  rota audit list --since 24h --act JOB_FAILED\n  rota audit list --subject 'schedule nightly' -o json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			query, err := flags.query(cmd.Context(), a)
			if err != nil {
				return err
			}
			list.none, pages.keeps = noEntries(query), flags.search.keeps
			return list.print(cmd.Context(), a, query, pages)
		},
	}
	flags.flags(cmd)
	pages.flags(cmd)
	return cmd
}

// auditSubject is the subject of an entry, with the name of a job or the job of a schedule, if the entry has it.
func auditSubject(e api.AuditEntry) string {
	subject := string(e.Subject)
	var created struct {
		Type struct{ New string }
	}
	switch isJob := strings.HasPrefix(subject, "job "); {
	case isJob && e.Schedule != "":
		return subject + " of " + string(e.Schedule)
	case isJob && json.Unmarshal(e.Changes, &created) == nil && created.Type.New != "":
		return subject + " of type " + created.Type.New
	case !isJob && !e.JobID.IsZero():
		return subject + ", job " + e.JobID.String()
	}
	return subject
}

// noEntries is the text for an empty list. A filter by name may have a typo: any name is accepted, since entries outlive
// what they are about.
func noEntries(query url.Values) string {
	switch {
	case query.Get("subject") != "":
		return "no entries; a subject looks like \"schedule nightly\", \"template report\", \"type mail.send\", \"job ID\" or \"limits\""
	case query.Get("schedule") != "":
		return "no entries; check the name: rota schedule list"
	}
	return "no entries"
}

// changedMax is how many changed fields a row names.
const changedMax = 4

// changedFields returns the names of the fields that changed.
func changedFields(changes json.RawMessage) string {
	var fields map[string]json.RawMessage
	if json.Unmarshal(changes, &fields) != nil {
		return ""
	}
	names := make([]string, 0, len(fields))
	for name := range fields {
		names = append(names, name)
	}
	slices.Sort(names)
	if more := len(names) - changedMax; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:changedMax], ", "), more)
	}
	return strings.Join(names, ", ")
}

func newAuditExportCommand(a *app) *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use: "export", Short: "Write the audit as JSON lines", Args: noArgs(),
		Long: `Write the whole audit to standard output, one JSON object a line: the entries with their chain, and a head that the
server signs. rota audit verify --file checks the file later, without the server. It needs the privilege ADMIN.

With a filter, write a selection of the entries, newest first, without the chain: what the user may see.

Entries that are written meanwhile are not included.`,
		Example: "  rota audit export > audit.jsonl && rota audit verify --file audit.jsonl\n  rota audit export --since 2026-11-01T00:00:00Z | gzip > november.jsonl.gz",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !anyFlagOf(cmd) {
				return a.exportChain(cmd.Context())
			}
			query, err := flags.query(cmd.Context(), a)
			if err != nil {
				return err
			}
			return a.exportAudit(cmd.Context(), query, flags.search.keeps)
		},
	}
	flags.flags(cmd)
	return cmd
}

// anyFlagOf reports whether the user gave a flag of the command itself.
func anyFlagOf(cmd *cobra.Command) (given bool) {
	cmd.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) { given = given || f.Changed })
	return given
}

// exportEnd is how the last line of an export begins.
const exportEnd = `{"end":`

// exportChain copies the export of the server. Its last line tells that it is complete.
func (a *app) exportChain(ctx context.Context) error {
	response, err := a.open(ctx, apiclient.Request{Method: http.MethodGet, Path: "/audit/export", Accept: "application/x-ndjson"})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	lines := bufio.NewReaderSize(response.Body, 64<<10)
	last := []byte(nil)
	for {
		line, err := lines.ReadBytes('\n')
		if err == io.EOF && len(line) == 0 && bytes.HasPrefix(last, []byte(exportEnd)) {
			return nil
		}
		if err != nil {
			return failf(exitUnavailable, "run the command again", "the export is not complete: the server ended it")
		}
		if _, err := a.out.Write(escapeControls(line)); err != nil {
			return err
		}
		last = line
	}
}

func (a *app) exportAudit(ctx context.Context, query url.Values, keeps func(json.RawMessage) bool) error {
	for cursor := api.Text(""); ; {
		part, err := a.page(ctx, "/audit", query, cursor, rota.PageMax)
		if err != nil {
			return err
		}
		var lines bytes.Buffer
		for _, item := range part.Items {
			if !keeps(item) {
				continue
			}
			if err := json.Compact(&lines, item); err != nil {
				return err
			}
			lines.WriteByte('\n')
		}
		if _, err := a.out.Write(escapeControls(lines.Bytes())); err != nil {
			return err
		}
		if cursor = part.NextCursor; cursor == "" {
			return nil
		}
	}
}
