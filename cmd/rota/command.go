package main

import (
	"context"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rotajobs/rota"
)

// newParentCommand is a command that only leads to others. Alone it shows them, and a word that is none of them is a mistake of
// the command line rather than a page of help.
func newParentCommand(name, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{
		Use:                        name,
		Short:                      short,
		Args:                       cobra.ArbitraryArgs,
		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
		RunE:                       unknownSubcommand,
	}
	cmd.AddCommand(verbs...)
	return cmd
}

func unknownSubcommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return cmd.Help()
	}
	hint := "see " + cmd.CommandPath() + " --help"
	if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + cmd.CommandPath() + " " + near[0] + "?"
	}
	return usagef(hint, "unknown command %s for %q", shortened(strconv.Quote(args[0])), cmd.CommandPath())
}

// requireArgs is the arguments of a command by their names, for a refusal that says which is missing.
func requireArgs(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		hint := "write " + cmd.UseLine() + "; see " + cmd.CommandPath() + " --help"
		switch {
		case len(args) < len(names):
			return usagef(hint, "%s needs %s", commandName(cmd), names[len(args)])
		case len(args) > len(names):
			return usagef(hint, "%s got %s too many: %s", commandName(cmd),
				plural(len(args)-len(names), "argument", "arguments"), shortened(strconv.Quote(args[len(names)])))
		}
		return nil
	}
}

// requireID is wants for a command whose first argument is an id. One that cannot be an id is named here: no server need be
// asked.
func requireID(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := requireArgs(names...)(cmd, args); err != nil {
			return err
		}
		return checkIDs(args[:1])
	}
}

// checkIDs refuses what has not the shape of an id.
func checkIDs(texts []string) error {
	for _, text := range texts {
		if _, err := rota.ParseID(text); err != nil {
			return usagef("an id looks like 01926a5e-7c3b-7f3a-8d2e-1b2c3d4e5f60; the lists show them", "%s is not an id", shortened(strconv.Quote(text)))
		}
	}
	return nil
}

// optionalArg is wants for one argument that can be left out.
func optionalArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return requireArgs(name)(cmd, args)
	}
}

// commandName names a command as messages do, which begin with rota already.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "rota ") }

// noArgs refuses arguments.
func noArgs() cobra.PositionalArgs { return requireArgs() }

// completionTimeout is how long a shell waits for names: a person who pressed a key waits no longer.
const completionTimeout = time.Second

// completeNames lets the shell complete the first argument with what a list of the server names. A server that does not
// answer completes nothing.
func (a *app) completeNames(path, field string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.names(path, field), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFlagNames is completeNames for a flag.
func (a *app) completeFlagNames(cmd *cobra.Command, flag, path, field string) {
	complete := func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return a.names(path, field), cobra.ShellCompDirectiveNoFileComp
	}
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag was not declared, or twice: a mistake in this program
	}
}

func (a *app) names(path, field string) (names []string) {
	ctx, stop := context.WithTimeout(context.Background(), completionTimeout)
	defer stop()
	found, err := a.list(ctx, path, nil, listFlags{limit: listDefault})
	if err != nil {
		return nil
	}
	for _, item := range found.Items {
		if fields, err := decode[map[string]any](item); err == nil {
			if name, is := fields[field].(string); is {
				names = append(names, name)
			}
		}
	}
	return names
}
