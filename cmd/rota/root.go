package main

import (
	"errors"
	"net/http"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// app holds what all commands share: the environment and the global flags.
type app struct {
	environment
	output        format
	server        server
	http          *http.Client
	lastAddress   string  // address read from rota.addr of the data directory; empty until one was read
	configDataDir *string // data directory that the configuration file here sets; nil until it was read
	started       bool    // a command has started, so its errors are not errors of the command line
}

// newRootCommand builds the command tree. Each command has a constructor, which addGroups or its parent command calls.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:                        "rota",
		Short:                      "Schedule, queue and run jobs, and keep their history",
		SilenceUsage:               true, // an error prints one message and a hint, not all flags
		SilenceErrors:              true, // report prints it
		DisableSuggestions:         true, // usageHint prints them, on one line
		SuggestionsMinimumDistance: 2,
		Version:                    buildVersion(),
		PersistentPreRunE:          func(*cobra.Command, []string) error { a.started = true; return nil },
	}
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.PersistentFlags().VarP(&a.output, "output", "o", "output format: table, json or yaml")
	completeFrom(root, "output", formatNames)
	a.server.flags(root)
	addGroups(root, a)
	a.completeFlags(root)
	disableFileCompletion(root)
	// A command with subcommands cannot run by itself, so its usage leaves that line out.
	root.SetUsageTemplate(strings.Replace(root.UsageTemplate(), "{{if .Runnable}}", "{{if and .Runnable (not .HasAvailableSubCommands)}}", 1))
	root.SetVersionTemplate("rota {{.Version}}\n")
	root.SetHelpCommand(newHelpCommand(root))
	root.SetGlobalNormalizationFunc(flagName)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error { return usage(err, flagHint(cmd, err)) })
	refuseUnknownShells(root)
	return root
}

// fieldFlags maps names of API fields to flags with a shorter name, so that both names work on the command line.
var fieldFlags = map[string]string{
	"max-retries": "retries", "unique-key": "unique", "run-at": "at", "plan-time": "plan", "concurrency-key": "key",
	"timezone": "tz", "starts-at": "starts", "ends-at": "ends", "default-params": "params", "param-overrides": "params",
}

// flagName converts the name of a flag from the form of the API (run_at) to the form of the command line (at).
func flagName(_ *pflag.FlagSet, name string) pflag.NormalizedName {
	name = strings.ReplaceAll(name, "_", "-")
	if flag, known := fieldFlags[name]; known {
		name = flag
	}
	return pflag.NormalizedName(name)
}

// refuseUnknownShells makes completion for an unsupported shell an error; cobra would print help and exit with 0.
func refuseUnknownShells(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, cmd := range root.Commands() {
		if cmd.Name() == "completion" {
			cmd.Args, cmd.RunE = cobra.ArbitraryArgs, unknownSubcommand
			cmd.SuggestionsMinimumDistance = 2
		}
	}
}

// flagHint suggests the flag with the nearest name, or else the help of the command.
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
			return "name a subcommand first, such as " + verb.CommandPath() + "; " + hint
		}
	}
	return hint
}

// suggestFlag returns the flag whose name is nearest to an unknown one. Cobra suggests only commands, so each flag is
// added to a command tree of its own.
func suggestFlag(cmd *cobra.Command, name string) string {
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	return nearestOf(names, name)
}

// nearestOf returns the name that is nearest to an unknown one; empty: none is near.
func nearestOf(names []string, unknown string) string {
	all := &cobra.Command{SuggestionsMinimumDistance: 2}
	for _, name := range names {
		all.AddCommand(&cobra.Command{Use: name, Run: func(*cobra.Command, []string) {}})
	}
	if near := all.SuggestionsFor(unknown); len(unknown) > 1 && len(near) > 0 {
		return near[0]
	}
	return ""
}

// addGroups adds the commands under the headings that help shows.
func addGroups(root *cobra.Command, a *app) {
	for _, group := range []struct {
		title    string
		commands []*cobra.Command
	}{
		{"Jobs", []*cobra.Command{
			newJobCommand(a), newQueueCommand(a), newExecutionCommand(a), newGroupCommand(a), newDeadCommand(a),
			newDirectCommand(a), newExplainCommand(a, "explain ID|NAME"),
		}},
		{"Definitions", []*cobra.Command{
			newTypeCommand(a), newTemplateCommand(a), newScheduleCommand(a), newLimitsCommand(a), newWebhookCommand(a), newCronCommand(a),
			newExportCommand(a), newImportCommand(a), newSQLCommand(a),
		}},
		{"Access", []*cobra.Command{
			newUserCommand(a), newRoleCommand(a), newGrantCommand(a), newRevokeCommand(a), newTokenCommand(a), newSecretCommand(a), newMeCommand(a),
		}},
		{"Server", []*cobra.Command{
			newServeCommand(a), newWorkerCommand(a), newExecCommand(a), newHealthCommand(a), newStatsCommand(a), newEventsCommand(a), newAuditCommand(a), newReservationCommand(a),
		}},
		{"Store", []*cobra.Command{
			newBackupCommand(a), newRestoreCommand(a), newCopyCommand(a), newVerifyCommand(a), newBenchCommand(a),
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

// disableFileCompletion stops the shell from completing file names for arguments that are not files.
func disableFileCompletion(cmd *cobra.Command) {
	for _, verb := range cmd.Commands() {
		if verb.ValidArgsFunction == nil {
			verb.ValidArgsFunction = cobra.NoFileCompletions
		}
		disableFileCompletion(verb)
	}
}

// newHelpCommand replaces the help command of cobra: help for an unknown command is a usage error.
func newHelpCommand(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND]",
		Short:             "Show the help of a command",
		ValidArgsFunction: completeCommands,
		RunE: func(_ *cobra.Command, args []string) error {
			cmd, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				return usagef(usageHint(root, args), "no help for %s: there is no such command", shortened(strconv.Quote(strings.Join(args, " "))))
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

// usageHint suggests the command with the nearest name, or else the help.
func usageHint(root *cobra.Command, args []string) string {
	if _, _, err := root.Find(args); err != nil && len(args) > 0 {
		if near := root.SuggestionsFor(args[0]); len(near) > 0 {
			return "did you mean rota " + near[0] + "?"
		}
	}
	return "see rota --help"
}

// completeFrom makes the shell complete a flag from a fixed list; an empty list completes nothing.
func completeFrom(cmd *cobra.Command, flag string, words []string) {
	complete := cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp)
	if err := cmd.RegisterFlagCompletionFunc(flag, complete); err != nil {
		panic(err) // the flag is not declared or registered twice: a bug in this program
	}
}

// version is set by the linker for releases; other builds have the version of the module.
var version string

type versionView struct {
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  noArgs(),
		RunE: func(*cobra.Command, []string) error {
			view := versionView{buildVersion(), runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return a.printMessage(view, "rota %s %s %s", view.Version, view.Go, view.Platform)
		},
	}
}

func buildVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
