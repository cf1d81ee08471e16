package main

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newSecretCommand(a *app) *cobra.Command {
	return newParentCommand("secret", "List, set and delete the secrets of templates, and rotate their key",
		newSecretListCommand(a), newSecretSetCommand(a), newSecretDeleteCommand(a), newSecretRotateCommand(a))
}

func newSecretListCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "list [TEMPLATE]", Short: "List the names of secrets", Example: "  rota secret list\n  rota secret list backup", Args: optionalArg("a TEMPLATE"),
		Long: "List the names of secrets and when they were set. No command shows a value.", ValidArgsFunction: a.completeNames("/templates", "name"),
	}
	f := filters{}
	f.add(cmd, "template", "only secrets of this `TEMPLATE`")
	list := listing[api.Secret]{
		path: "/secrets", filters: f, none: "no secrets; set one with rota secret set TEMPLATE/KEY",
		heads: []string{"TEMPLATE", "KEY", "SET", "^CREATED", "?BY"}, drop: []string{"CREATED", "BY"},
		row: func(s api.Secret) []string {
			return []string{s.Template, s.Key, a.ago(s.UpdatedAt.Time), a.ago(s.CreatedAt.Time), string(s.CreatedBy)}
		},
	}.command(a, cmd)
	run := list.RunE
	list.Args = optionalArg("a TEMPLATE")
	list.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 1 {
			if err := cmd.Flags().Set("template", args[0]); err != nil {
				return err
			}
		}
		if template := cmd.Flags().Lookup("template").Value.String(); template != "" { // an empty list could be that of a misspelled one
			if _, _, err := fetch[api.Template](cmd.Context(), a, apiclient.Request{Method: http.MethodGet, Path: "/templates" + pathSegment(template)}); err != nil {
				return err
			}
		}
		return run(cmd, nil)
	}
	return list
}

// secretPath returns the path of a secret, which is written TEMPLATE/KEY. A key has no slash.
func secretPath(name string) (path string, err error) {
	i := strings.LastIndexByte(name, '/')
	if i < 1 || rota.CheckSecretKey("key", name[i+1:]) != nil {
		return "", usagef(fmt.Sprintf("write it as TEMPLATE/KEY, such as backup/DB_PASSWORD; a key has letters, digits and _, begins with a letter or _, and has at most %d bytes", rota.SecretKeyMax),
			"%s is not the name of a secret", sanitize(name))
	}
	return "/secrets" + pathSegment(name[:i]) + pathSegment(name[i+1:]), nil
}

func newSecretSetCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set TEMPLATE/KEY", Short: "Set a secret; the value is read from standard input or asked for", Args: requireArgs("TEMPLATE/KEY"),
		Long: `Set a secret of a template. Only jobs of that template receive it: as an environment variable of commands, as
${secret:KEY} in headers of http jobs, and by engine.Secret in Go.

The value is read from standard input; one line break at its end is removed. On a terminal it is asked for and not shown.`,
		Example: "  rota secret set backup/DB_PASSWORD < password.txt\n  pass show db | rota secret set backup/DB_PASSWORD",
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := secretPath(args[0])
		if err != nil {
			return err
		}
		value, err := a.secretValue(cmd.Context(), args[0])
		if err != nil {
			return err
		}
		body := map[string]any{"value": string(value)}
		if !utf8.Valid(value) {
			body = map[string]any{"value": base64.StdEncoding.EncodeToString(value), "base64": true}
		}
		_, answer, err := fetch[api.Secret](cmd.Context(), a, apiclient.Request{Method: http.MethodPut, Path: path, Body: body})
		if err != nil {
			return err
		}
		return a.printMessage(answer, "set secret %s", sanitize(args[0]))
	}
	return cmd
}

// secretValue reads the value of a secret.
func (a *app) secretValue(ctx context.Context, name string) ([]byte, error) {
	if file, isFile := a.in.(*os.File); a.terminal.in && isFile {
		value, err := a.askPassword(ctx, file, "Value of "+sanitize(name)+": ")
		if err != nil {
			return nil, err
		}
		return checkedSecretValue([]byte(value))
	}
	text, err := io.ReadAll(io.LimitReader(a.in, rota.SecretMax+2))
	if err != nil {
		return nil, usagef("write the value to standard input", "standard input cannot be read: %w", err)
	}
	return checkedSecretValue(bytes.TrimSuffix(text, []byte("\n")))
}

func checkedSecretValue(value []byte) ([]byte, error) {
	switch {
	case len(value) == 0:
		return nil, usagef("write it to standard input, such as rota secret set TEMPLATE/KEY < FILE", "the value is empty")
	case len(value) > rota.SecretMax:
		return nil, usagef("shorten it", "the value has more than %d bytes", rota.SecretMax)
	}
	return value, nil
}

func newSecretDeleteCommand(a *app) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "delete TEMPLATE/KEY", Short: "Delete a secret", Aliases: []string{"rm"}, Args: requireArgs("TEMPLATE/KEY"), Example: "  rota secret delete backup/DB_PASSWORD",
	}
	yesFlag(cmd, &yes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		path, err := secretPath(args[0])
		if err != nil {
			return err
		}
		if err := a.confirmDelete(yes, "Delete secret %s?", args[0]); err != nil {
			return err
		}
		if _, _, err := fetch[any](cmd.Context(), a, apiclient.Request{Method: http.MethodDelete, Path: path}); err != nil {
			return err
		}
		return a.printMessage(map[string]string{"deleted": args[0]}, "deleted secret %s", sanitize(args[0]))
	}
	return cmd
}

func newSecretRotateCommand(a *app) *cobra.Command {
	now := false
	cmd := &cobra.Command{
		Use: "rotate", Short: "Replace the master key, while the server runs", Args: noArgs(), Example: "  rota secret rotate",
		Long: `Replace the master key of the server's data directory: add a key, seal new values with it, seal the stored values again,
and remove keys that no value needs. If a rotation was cut off, this finishes it. It also seals secrets of webhooks that an
earlier version has stored as they were.

Afterwards copy master.key again to where you keep it apart from backups. Keep each earlier copy as long as backups and exports
from its time: they need its key, which the rotation removes.

If the store has other nodes, the first run only adds the key. Copy master.key to the other nodes, then run it again.`,
	}
	cmd.Flags().BoolVar(&now, "now", false, "do not wait for the other nodes: their jobs with secrets fail until they have master.key")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		request := newPost("/secrets/rotate", nil)
		if now {
			request.Query = url.Values{"now": {"true"}}
		}
		done, answer, err := fetch[api.SecretsRotated](cmd.Context(), a, request)
		if err != nil {
			return err
		}
		if done.Pending {
			return a.printMessage(answer, "the key %s is added to master.key of this node; copy the file to the other nodes (%s), then run rota secret rotate again",
				done.To, sanitize(strings.Join(done.Nodes, ", ")))
		}
		from := ""
		if done.From != "" {
			from = fmt.Sprintf(" in place of %s", string(done.From))
		}
		return a.printMessage(answer, "the key is now %s%s: %s sealed again, %s removed. "+
			"Copy master.key again to where you keep it apart; keep the earlier copies of it as long as backups and exports from their time", done.To, from,
			sealedAgain(done), plural(done.Retired, "key", "keys"))
	}
	return cmd
}

// sealedAgain counts the values of templates and the webhooks apart.
func sealedAgain(done api.SecretsRotated) string {
	values, hooks := plural(done.Rewrapped-done.Webhooks, "value", "values"), plural(done.Webhooks, "webhook", "webhooks")
	switch {
	case done.Webhooks == 0:
		return values
	case done.Webhooks == done.Rewrapped:
		return hooks
	}
	return values + " and " + hooks
}
