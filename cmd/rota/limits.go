package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
	"github.com/rotajobs/rota/api"
	"github.com/rotajobs/rota/internal/apiclient"
)

func newLimitsCommand(a *app) *cobra.Command {
	return newParentCommand("limits", "Show and set limits on concurrency and start rate", newLimitsShowCommand(a), newLimitsSetCommand(a))
}

func newLimitsShowCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use: "show", Short: "Show the limits", Args: noArgs(), Example: "  rota limits", Aliases: []string{"list", "ls"},
		RunE: func(cmd *cobra.Command, _ []string) error { return a.printLimits(cmd.Context(), newGet("/limits")) },
	}
}

// printLimits sends a request and prints the limits in its answer.
func (a *app) printLimits(ctx context.Context, r apiclient.Request) error {
	limits, answer, err := fetch[api.Throttle](ctx, a, r)
	if err != nil {
		return err
	}
	t := newTable("OF", "NAME", "AT ONCE", "RATE").orElse("no limits")
	if limits.Global > 0 {
		t.add("everything", "", fmt.Sprint(limits.Global), "")
	}
	for _, name := range slices.Sorted(maps.Keys(limits.Types)) {
		limit := limits.Types[name]
		t.add("type", name, limitText(limit.Concurrency), string(limit.Rate))
	}
	for _, name := range slices.Sorted(maps.Keys(limits.Keys)) {
		t.add("key", name, fmt.Sprint(limits.Keys[name]), "")
	}
	for _, pattern := range slices.Sorted(maps.Keys(limits.EachKey)) {
		t.add("each key", pattern, fmt.Sprint(limits.EachKey[pattern]), "")
	}
	for _, name := range slices.Sorted(maps.Keys(limits.EachKeyOfType)) {
		t.add("each key of type", name, fmt.Sprint(limits.EachKeyOfType[name]), "")
	}
	return a.print(answer, func(w io.Writer) { a.printTable(w, t) })
}

func limitText(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprint(n)
}

// limitsSet holds the flags.
type limitsSet struct {
	global                 int
	types, rates, keys     []string
	eachKey, eachKeyOfType []string
}

func newLimitsSetCommand(a *app) *cobra.Command {
	var set limitsSet
	cmd := &cobra.Command{
		Use: "set", Short: "Change the limits that the flags name", Args: noArgs(),
		Long: `Change the limits that the flags name and leave the others. 0 removes a limit.

The limit of a concurrency key is the one of --key, else the one of its longest prefix in --each-key,
else the one of the type of the job in --each-key-of-type. The last counts only jobs of the type.`,
		Example: `  rota limits set --global 50
  rota limits set --type mail.send=5 --rate mail.send=100/1m --key tenant:7=2
  rota limits set --each-key 'tenant:*=1' --each-key-of-type mail.send=2
  rota limits set --type mail.send=0 --rate mail.send=0    # remove both limits`,
	}
	flags := cmd.Flags()
	addNumberFlag(cmd, &set.global, "global", 0, 0, rota.LimitMax, "run at most `N` jobs at once, of all types")
	flags.StringArrayVar(&set.types, "type", nil, "run at most N jobs of a type at once, as `TYPE=N` (repeatable)")
	flags.StringArrayVar(&set.rates, "rate", nil, "start at most N jobs of a type in a period, as `TYPE=N/DURATION` (repeatable)")
	flags.StringArrayVar(&set.keys, "key", nil, "run at most N jobs of a concurrency key at once, as `KEY=N` (repeatable)")
	flags.StringArrayVar(&set.eachKey, "each-key", nil, "run at most N jobs at once of each concurrency key that begins with PREFIX, as `PREFIX*=N` (repeatable)")
	flags.StringArrayVar(&set.eachKeyOfType, "each-key-of-type", nil, "run at most N jobs of a type at once for each concurrency key, as `TYPE=N` (repeatable)")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if cmd.Flags().NFlag() == 0 {
			return usagef("see rota limits set --help", "limits set needs a limit to set")
		}
		limits, _, err := fetch[api.Throttle](cmd.Context(), a, newGet("/limits"))
		if err != nil {
			return err
		}
		if err := set.apply(&limits, cmd.Flags().Changed("global")); err != nil {
			return err
		}
		return a.printLimits(cmd.Context(), apiclient.Request{Method: http.MethodPut, Path: "/limits", Body: limits})
	}
	return cmd
}

// apply changes the limits that the flags name.
func (set *limitsSet) apply(limits *api.Throttle, global bool) error {
	if global {
		limits.Global = set.global
	}
	if limits.Types == nil {
		limits.Types = map[string]api.TypeLimit{}
	}
	for _, text := range set.types {
		name, n, err := parseLimit("--type", text)
		if err != nil {
			return err
		}
		setLimit(limits, name, api.TypeLimit{Concurrency: n, Rate: limits.Types[name].Rate})
	}
	for _, text := range set.rates {
		name, rate, found := cutLast(text)
		if !found {
			return usagef("write it like --rate mail.send=100/1m", "--rate %s is not of the form TYPE=N/DURATION", shortened(text))
		}
		if rate == "0" {
			rate = ""
		}
		setLimit(limits, name, api.TypeLimit{Concurrency: limits.Types[name].Concurrency, Rate: api.Text(rate)})
	}
	return cmp.Or(
		applyLimits("--key", set.keys, &limits.Keys),
		applyLimits("--each-key", set.eachKey, &limits.EachKey),
		applyLimits("--each-key-of-type", set.eachKeyOfType, &limits.EachKeyOfType),
	)
}

// applyLimits sets the limits that a flag names, and removes those that are 0.
func applyLimits(flag string, texts []string, limits *map[string]int) error {
	if *limits == nil {
		*limits = map[string]int{}
	}
	for _, text := range texts {
		name, n, err := parseLimit(flag, text)
		if err != nil {
			return err
		}
		if (*limits)[name] = n; n == 0 {
			delete(*limits, name)
		}
	}
	return nil
}

// setLimit sets the limit of a type, or removes it if it is empty.
func setLimit(limits *api.Throttle, name string, limit api.TypeLimit) {
	if limits.Types[name] = limit; limit == (api.TypeLimit{}) {
		delete(limits.Types, name)
	}
}

// cutLast cuts at the last =, since a key may contain one.
func cutLast(text string) (name, value string, found bool) {
	at := strings.LastIndexByte(text, '=')
	if at < 1 {
		return "", "", false
	}
	return text[:at], text[at+1:], true
}

func parseLimit(flag, text string) (string, int, error) {
	name, value, found := cutLast(text)
	n, err := strconv.Atoi(value)
	if !found || err != nil || n < 0 {
		form, example := "NAME=N", "NAME=5"
		if flag == "--each-key" {
			form, example = "PREFIX*=N", "'tenant:*=5'"
		}
		return "", 0, usagef("write it like "+flag+" "+example+"; 0 removes a limit", "%s %s is not of the form %s", flag, shortened(text), form)
	}
	return name, n, nil
}
