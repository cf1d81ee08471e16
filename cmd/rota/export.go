package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota/httpapi"
)

const exportExample = `  rota export                            # print everything that was declared
  rota export rota.yaml                  # write it to a file
  rota export rota.yaml --secrets        # with the secrets of webhooks, to move to another server
  rota export | rota import - --url http://other:7420 --token …`

func newExportCommand(a *app) *cobra.Command {
	secrets, force := false, false
	cmd := &cobra.Command{
		Use:   "export [FILE]",
		Short: "Writes everything that was declared, as one document",
		Long: `Writes types, templates, schedules with their states, limits and webhooks as one YAML document, to FILE or to
standard output; with --output json as JSON. It is what stood at one moment, in the same order every time, and can
be kept under version control. rota import reads it: into an empty server it makes one that exports the
same, to the byte. Types that are built in are there only while they are paused. Jobs, runs and the audit are not in
it: rota backup copies those too.`,
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
	cmd.Flags().BoolVar(&secrets, "secrets", false, "with what the deliveries of webhooks are signed with")
	cmd.Flags().BoolVar(&force, "force", false, "replace FILE if it is there")
	return cmd
}

func (a *app) export(ctx context.Context, path string, secrets, force bool) error {
	if path != "" {
		if err := checkTarget(path, force); err != nil {
			return err
		}
	}
	query := url.Values{}
	if secrets {
		query.Set("secrets", "true")
	}
	answer, err := a.get(ctx, "/definitions", query)
	if err != nil {
		return err
	}
	text, err := a.encodeExport(answer, secrets)
	if err != nil {
		return err
	}
	if !secrets {
		a.warnSecretsOmitted(answer)
	}
	if path == "" {
		_, err = a.out.Write(text)
		return err
	}
	size, err := writeAtomically(path, force, func(file *os.File) error { _, err := file.Write(text); return err })
	if err != nil {
		return err
	}
	return a.print(backupView{path, size}, func(w io.Writer) error {
		_, err := fmt.Fprintf(w, "wrote %s, %s\n", path, byteSize(size))
		return err
	})
}

const exportHead = `# What a Rota server was told to run and when: rota export writes this, rota import reads it.
`

const exportSecrets = `# It holds the secrets of webhooks: keep it as you keep those.
`

// encodeExport is the document as it is written to people: YAML, or JSON for who asks for it.
func (a *app) encodeExport(answer json.RawMessage, secrets bool) ([]byte, error) {
	if a.output == formatJSON {
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

// warnSecretsOmitted says that secrets are left out, if there are any.
func (a *app) warnSecretsOmitted(answer json.RawMessage) {
	definitions, err := decode[httpapi.Definitions](answer)
	if err != nil {
		return
	}
	hooks := len(definitions.Webhooks)
	for _, t := range definitions.Templates {
		hooks += len(t.Webhooks)
	}
	if hooks > 0 {
		fmt.Fprintf(a.err, "rota: the secrets of %s are left out; another server needs them: give --secrets\n", plural(hooks, "webhook", "webhooks"))
	}
}
