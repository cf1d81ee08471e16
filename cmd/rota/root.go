package main

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"
)

// app is what the commands share: the surroundings and the global flags.
type app struct {
	environment
	output  format
	started bool // a command's own code has begun, so an error is no longer a matter of the command line
}

// newRootCommand puts the program together. A subcommand is one file with one constructor, named here.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:                        "rota",
		Short:                      "Runs jobs on time, in order, once, and remembers all of it",
		SilenceUsage:               true, // an error is one message and a hint, not a page of flags
		SilenceErrors:              true, // report prints it
		DisableSuggestions:         true, // usageHint makes them, on one line
		SuggestionsMinimumDistance: 2,
		Version:                    buildVersion(),
		PersistentPreRunE:          func(*cobra.Command, []string) error { a.started = true; return nil },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().VarP(&a.output, "output", "o", "how to print: table, json or yaml")
	completeFrom(root, "output", formatNames)
	root.AddCommand(
		newCronCommand(a),
		newVerifyCommand(a),
		newVersionCommand(a),
	)
	for _, cmd := range root.Commands() {
		if cmd.ValidArgsFunction == nil {
			cmd.ValidArgsFunction = cobra.NoFileCompletions // no argument of a command is a file
		}
	}
	root.SetVersionTemplate("rota {{.Version}}\n")
	root.SetHelpCommand(newHelpCommand(root))
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage(err, "see "+cmd.CommandPath()+" --help") // where the flags of this command are
	})
	return root
}

// newHelpCommand is cobra's, except that help for what does not exist is a mistake of the command line.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Help about any command",
		ValidArgsFunction: completeCommands,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef(usageHint(root, args), "no help for %s", shortened(strconv.Quote(strings.Join(args, " "))))
			}
			cmd.InitDefaultHelpFlag()
			return cmd.Help()
		},
	}
}

func completeCommands(help *cobra.Command, args []string, _ string) (names []string, _ cobra.ShellCompDirective) {
	if len(args) == 0 {
		for _, cmd := range help.Root().Commands() {
			names = append(names, cmd.Name())
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// usageHint names the command that was meant, if one is near, else where help is.
func usageHint(root *cobra.Command, args []string) string {
	if _, _, err := root.Find(args); err != nil && len(args) > 0 {
		if near := root.SuggestionsFor(args[0]); len(near) > 0 {
			return "did you mean rota " + near[0] + "?"
		}
	}
	return "see rota --help"
}

// completeFrom lets the shell complete a flag from a fixed list.
func completeFrom(cmd *cobra.Command, flag string, words []string) {
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag was not declared, or twice: a mistake in this program
	}
}
