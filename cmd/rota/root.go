package main

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app is what the commands share: the surroundings and the global flags.
type app struct {
	environment
	output        format
	server        server
	http          *http.Client
	lastAddress   string  // the address of the server on this machine, once it was seen
	configDataDir *string // the data directory of a configuration file here, once it was read
	started       bool    // a command's own code has begun, so an error is no longer a matter of the command line
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
	a.server.flags(root)
	addGroups(root, a)
	disableFileCompletion(root)
	// A command that only leads to others is not run by itself, so its usage does not say so.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	root.SetVersionTemplate("rota {{.Version}}\n")
	root.SetHelpCommand(newHelpCommand(root))
	root.SetGlobalNormalizationFunc(flagName)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(err, flagHint(cmd, err)) })
	refuseUnknownShells(root)
	return root
}

// fieldFlags are the flags that are shorter than the fields of the API that they stand for. Whoever knows the fields need
// not learn them anew.
var fieldFlags = map[string]string{
	"max-retries": "retries", "unique-key": "unique", "run-at": "at", "plan-time": "plan", "concurrency-key": "key",
	"timezone": "tz", "starts-at": "starts", "ends-at": "ends", "default-params": "params", "param-overrides": "params",
}

// flagName is the name of a flag as we write it, for one who wrote it as the API does.
func flagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if flag, known := fieldFlags[name]; known {
		name = flag
	}
	return pflag.NormalizedName(name)
}

// refuseUnknownShells keeps the completion for a shell that there is none for from being a page of help.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, unknownSubcommand
			cmd.SuggestionsMinimumDistance = 2
		}
	}
}

// flagHint names the flag that was meant, if one is near, else where the flags of a command are.
func flagHint(cmd *cobra.Command, err error) string {
	hint := "see " + cmd.CommandPath() + " --help"
	var unknown *pflag.NotExistError
	if errors.As(err, &unknown) {
		if near := suggestFlag(cmd, unknown.GetSpecifiedName()); near != "" {
			return "did you mean --" + near + "? " + hint
		}
	}
	for _, verb := range cmd.Commands() {
		if cmd.HasParent() && (verb.Name() == "list" || verb.Name() == "show") {
			return "say first what to do, such as " + verb.CommandPath() + "; " + hint
		}
	}
	return hint
}

// suggestFlag is the flag whose name is like one that does not exist. Commands know how to look for what was meant, so the
// flags are put to it as commands.
func suggestFlag(cmd *cobra.Command, name string) string {
	flags := &cobra.Command{SuggestionsMinimumDistance: 2}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			flags.AddCommand(&cobra.Command{Use: f.Name, Run: func(*cobra.Command, []string) {}})
		}
	})
	if near := flags.SuggestionsFor(name); len(name) > 1 && len(near) > 0 {
		return near[0]
	}
	return ""
}

// addGroups adds the commands, under the heads that help shows them.
func addGroups(root *cobra.Command, a *app) {
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Jobs", []*cobra.Command{
			newJobCommand(a), newQueueCommand(a), newExecutionCommand(a), newGroupCommand(a), newDeadCommand(a),
			newDirectCommand(a), newExplainCommand(a, "explain JOB"),
		}},
		{"Definitions", []*cobra.Command{
			newTypeCommand(a), newTemplateCommand(a), newScheduleCommand(a), newLimitsCommand(a), newWebhookCommand(a), newCronCommand(a),
			newExportCommand(a), newImportCommand(a), newSQLCommand(a),
		}},
		{"Server", []*cobra.Command{
			newServeCommand(a), newStatsCommand(a), newEventsCommand(a), newAuditCommand(a), newReservationCommand(a),
		}},
		{"Store", []*cobra.Command{
			newBackupCommand(a), newRestoreCommand(a), newVerifyCommand(a), newBenchCommand(a),
		}},
	} {
		root.AddGroup(&cobra.Group{ID: group.title, Title: group.title + ":"})
		for _, cmd := range group.commands {
			cmd.GroupID = group.title
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newVersionCommand(a))
}

// disableFileCompletion keeps the shell from offering files as arguments that are none.
func disableFileCompletion(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		if verb.ValidArgsFunction == nil {
			verb.ValidArgsFunction = cobra.NoFileCompletions
		}
		disableFileCompletion(verb)
	}
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
