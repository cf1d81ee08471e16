package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newTokenCommand(a *app) *cobra.Command {
	return newParentCommand("token", "List, create and revoke tokens, with which programs log in",
		newTokenListCommand(a), newTokenShowCommand(a), newTokenCreateCommand(a), newTokenRevokeCommand(a))
}

func newTokenListCommand(a *app) *cobra.Command {
	f := filters{}
	cmd := &cobra.Command{
		Use: "list", Short: "List tokens, without their secrets", Example: "  rota token list\n  rota token list --user ci",
		Long: "List tokens, also those that are expired or revoked. The token itself is not stored and cannot be shown.",
	}
	f.add(cmd, "user", "only tokens of this `USER`")
	return listing[api.Token]{
		path: "/tokens", filters: f, empty: a.noTokens,
		heads: []string{"ID", "USER", "SCOPE", "?TYPE", "^?JOB", "!STATE", "EXPIRES", "LAST USED", "CREATED"}, drop: []string{"CREATED", "LAST USED"},
		row: func(t api.Token) []string {
			return []string{t.ID, t.User, t.Scope, string(t.Type), string(t.Job), tokenState(t), a.expiryText(t.ExpiresAt), orNever(a.ago(t.LastUsedAt.Time)), a.ago(t.CreatedAt.Time)}
		},
	}.command(a, cmd)
}

// noTokens is the text for an empty list of tokens. A user without tokens differs from one that does not exist; the tokens of a
// user that was deleted are listed until they are removed.
func (a *app) noTokens(ctx context.Context, query url.Values) (string, error) {
	if user := query.Get("user"); user != "" && user != rota.AdminUser {
		if _, err := a.call(ctx, newGet("/users"+pathSegment(user))); exitCode(err) == exitNotFound {
			return "", err
		}
	}
	return "no tokens; create one with rota token create", nil
}

func tokenState(t api.Token) string { return strings.ReplaceAll(t.State, "_", " ") }

func orNever(text string) string {
	if text == "" {
		return "never"
	}
	return text
}

func (a *app) expiryText(at api.Time) string { return orNever(a.ago(at.Time)) }

func newTokenShowCommand(a *app) *cobra.Command {
	return showCommand(a, &cobra.Command{
		Use: "show ID", Short: "Show a token, without its secret", Args: requireArgs("an ID"), Example: "  rota token show k7m2p9qxw4ht",
	}, "/tokens", "", func(w io.Writer, t api.Token) {
		s := &keyValues{}
		s.add("id", t.ID)
		s.add("user", t.User)
		s.add("scope", t.Scope)
		s.add("type", string(t.Type))
		s.add("job", string(t.Job))
		s.add("state", tokenState(t))
		s.add("created", a.timestamp(t.CreatedAt.Time)+byActor(t.CreatedBy))
		s.add("expires", orNever(a.timestamp(t.ExpiresAt.Time)))
		s.add("last used", orNever(a.timestamp(t.LastUsedAt.Time)))
		if !t.RevokedAt.IsZero() {
			s.add("revoked", a.timestamp(t.RevokedAt.Time)+byActor(t.RevokedBy))
		}
		a.printKeyValues(w, s)
	})
}

func newTokenCreateCommand(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use: "create --scope read|write|worker", Short: "Create a token and print it", Args: noArgs(), DisableFlagsInUseLine: true,
		Long: `Create a token and print it on standard output. It is shown once: the server stores only a hash of it.

The scope is what the token may do at most:

  read    reads what its user may see
  write   all that its user may do; without ADMIN it cannot create tokens and change passwords
  worker  claim, extend and finish jobs, with --type only of one type; needs ADMIN to create

Use it with --token or ROTA_TOKEN, in the header Authorization: Bearer TOKEN, or on the SQL port with the user rota_ID
and the whole token as the password.`,
		Example: `  rota token create --user ci --scope write --expires 90d
  rota token create --user mailer --scope worker --type mail > token.txt
  rota token create --user bob --scope read --job nightly --expires 2027-01-31T00:00:00Z`,
	}
	s := newBodyFlags(cmd)
	s.add("user", "user", "USER", "user whose rights it has (default: your user)", asText)
	s.add("scope", "scope", "SCOPE", "read, write or worker", asText, "read", "write", "worker")
	s.add("type", "type", "TYPE", "of scope worker: the only type it may claim", asText)
	s.add("job", "job", "JOB", "the only template or schedule it may see and use; not with the scope worker", asText)
	s.add("expires", "expires", "EXPIRY", "a duration, a time in RFC 3339, or never (default 90d)", asText)
	refuseEmpty(cmd, "user", "scope", "type", "job", "expires")
	completeJobs(a, cmd)
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if !cmd.Flags().Changed("scope") {
			return usagef("add --scope read, --scope write or --scope worker", "token create needs --scope")
		}
		body := map[string]any{}
		if err := s.fill(body); err != nil {
			return err
		}
		made, answer, err := fetch[api.TokenCreated](cmd.Context(), a, newPost("/tokens", body))
		if err != nil {
			return err
		}
		if err := a.print(answer, func(w io.Writer) { fmt.Fprintln(w, made.Token) }); err != nil || a.output != formatTable {
			return err
		}
		_, err = fmt.Fprintf(a.err, "token %s of user %s, scope %s, expires %s; it cannot be shown again\n", made.ID, sanitize(made.User), made.Scope, orNever(a.timestamp(made.ExpiresAt.Time)))
		return err
	}
	return cmd
}

func newTokenRevokeCommand(a *app) *cobra.Command {
	yes := false
	cmd := &cobra.Command{
		Use: "revoke ID", Short: "Revoke a token; requests with it are refused from now on", Aliases: []string{"delete", "rm"}, Args: requireArgs("an ID"),
		Example: "  rota token revoke k7m2p9qxw4ht", ValidArgsFunction: a.completeNames("/tokens", "id"),
	}
	yesFlag(cmd, &yes)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		id := strings.TrimPrefix(args[0], rota.TokenPrefix) // the audit shows the name rota_ID
		if strings.Contains(id, "_") {
			return usagef("write its part between the underscores", "the argument is a whole token, not an id")
		}
		if err := a.confirmDelete(yes, "Revoke token %s?", id); err != nil {
			return err
		}
		revoked, answer, err := fetch[api.Token](cmd.Context(), a, apiclient.Request{Method: http.MethodDelete, Path: "/tokens" + pathSegment(id)})
		if err != nil {
			return err
		}
		return a.printMessage(answer, "revoked token %s of user %s", revoked.ID, revoked.User)
	}
	return cmd
}
