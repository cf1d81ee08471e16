package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
	"github.com/spf13/cobra"
)

const exportExample = `  rota export                            # print all definitions
  rota export rota.yaml                  # write them to a file
  rota export -o sql jobs.sql            # as CREATE OR ALTER JOB statements
  rota export rota.yaml --secrets        # with the sealed secrets of templates and webhooks, for a server with the same master.key
  rota export | rota import - --url http://other:7420 --token …`

func newExportCommand(a *app) *cobra.Command {
	secrets, force := false, false
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Write all definitions as one document",
		Long: `Write types, templates, schedules with their states, limits and webhooks as one YAML document to FILE or standard
output, or as JSON with --output json. The document shows one point in time and has a fixed order, so it can be
kept under version control. rota import reads it; a server that was empty before the import exports the
same bytes. The document contains a built-in type only while it is paused. It does not contain jobs, runs and the
audit log: rota backup copies those too.

With --output sql the command writes CREATE OR ALTER JOB statements that rota sql -f and psql -f run, each job after those that
it depends on. SQL has no types, limits, webhooks, scopes and shared templates: a comment that begins with -- names each
of these, and each job that CREATE JOB would refuse because its time has passed.`,
		Example: exportExample,
		Args:    optionalArg("FILE"),
		RunE: func(cmd *cobra.Command, args []string) error {
			path := ""
			if len(args) > 0 {
				path = args[0]
			}
			return a.export(cmd.Context(), path, secrets, force)
		},
		ValidArgsFunction: completeFiles,
	}
	cmd.Flags().VarP(exportFormat{&a.output}, "output", "o", "output format: yaml, json or sql")
	completeFrom(cmd, "output", exportFormatNames)
	cmd.Flags().BoolVar(&secrets, "secrets", false, "include the secrets of templates and webhooks, sealed")
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it exists")
	return cmd
}

func (a *app) export(ctx context.Context, path string, secrets, force bool) error {
	if secrets && a.output == formatSQL {
		return usagef("remove --secrets, or export YAML", "SQL has no webhooks, so it has no secrets of webhooks")
	}
	if path != "" {
		if err := checkTarget(path, force); err != nil {
			return err
		}
	}
	query := url.Values{}
	if secrets || a.output == formatSQL { // SQL has only the names of secrets
		query.Set("secrets", "true")
	}
	answer, err := a.call(ctx, apiclient.Request{Method: http.MethodGet, Path: "/definitions", Query: query})
	if err != nil {
		return err
	}
	text, err := a.encodeExport(answer, secrets)
	if err != nil {
		return err
	}
	if !secrets && a.output != formatSQL {
		a.warnSecretsOmitted(ctx, answer)
	}
	if path == "" {
		_, err = a.out.Write(text)
		return err
	}
	size, err := writeAtomically(path, force, func(file *os.File) error { _, err := file.Write(text); return err })
	if err != nil {
		return err
	}
	if a.output == formatSQL {
		a.output = formatTable // the message is no statement
	}
	return a.printMessage(exportView{path, size}, "wrote %s, %s", path, byteSize(size))
}

// exportView is the output as JSON and YAML of an export into a file.
type exportView struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

const exportHead = `# Definitions of a Rota server: rota export writes this file, rota import reads it.
`

const exportSecrets = `# This file contains sealed secrets: only a server with the same master.key accepts them.
`

// encodeExport formats the document as YAML with a head comment, as JSON, or as SQL.
func (a *app) encodeExport(answer json.RawMessage, secrets bool) ([]byte, error) {
	switch a.output {
	case formatSQL:
		return toSQL(answer, a.now())
	case formatJSON:
		var b bytes.Buffer
		err := json.Indent(&b, bytes.TrimSpace(answer), "", "  ")
		b.WriteByte('\n')
		return b.Bytes(), err
	}
	text, err := toYAML(answer)
	head := exportHead
	if secrets {
		head += exportSecrets
	}
	return append([]byte(head+"\n"), text...), err
}

// warnSecretsOmitted prints a warning if the document leaves out secrets.
func (a *app) warnSecretsOmitted(ctx context.Context, answer json.RawMessage) {
	definitions, err := decode[api.Definitions](answer)
	if err != nil {
		return
	}
	hooks := len(definitions.Webhooks)
	for _, t := range definitions.Templates {
		hooks += len(t.Webhooks)
	}
	var of []string
	secrets, _, err := fetch[api.List[api.Secret]](ctx, a, apiclient.Request{Method: http.MethodGet, Path: "/secrets", Query: url.Values{"limit": {"1"}}})
	if err == nil && len(secrets.Items) > 0 { // an earlier server has none
		of = append(of, "templates")
	}
	if hooks > 0 {
		of = append(of, plural(hooks, "webhook", "webhooks"))
	}
	if len(of) > 0 {
		fmt.Fprintf(a.err, "rota: the secrets of %s are not exported; add --secrets to keep them for servers with the same master.key, or add them to the document\n", strings.Join(of, " and of "))
	}
}
