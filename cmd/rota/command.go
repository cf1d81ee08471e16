package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rotajobs/rota/cron"
)

// newParentCommand creates a command with subcommands. Without an argument it runs its first subcommand, which lists, and
// takes the flags of that one; an unknown subcommand is a usage error.
func newParentCommand(name, short string, verbs ...*cobra.Command) *cobra.Command {
	list := verbs[0]
	cmd := &cobra.Command{
		Use:                        name,
		Short:                      short,
		Long:                       short + ".\nWithout a subcommand it is rota " + name + " " + list.Name() + " and takes its flags.",
		Args:                       cobra.ArbitraryArgs,
		DisableFlagsInUseLine:      true,
		SuggestionsMinimumDistance: 2,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownSubcommand(cmd, args)
			}
			return list.RunE(cmd, args)
		},
	}
	for _, verb := range verbs {
		verb.Aliases = append(verb.Aliases, verbAliases[verb.Name()]...)
	}
	list.Flags().VisitAll(func(f *pflag.Flag) {
		same := *f // with the same value
		same.Hidden = true
		cmd.Flags().AddFlag(&same)
	})
	cmd.AddCommand(verbs...)
	return cmd
}

// verbAliases holds other names of subcommands, which users of similar programs type.
var verbAliases = map[string][]string{"list": {"ls"}, "show": {"status"}}

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

// requireArgs requires one argument for each name. The names appear in the error for a missing argument.
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
		if at := slices.Index(args, ""); at >= 0 {
			return usagef(hint, "%s needs %s; the argument is empty", commandName(cmd), names[at])
		}
		return nil
	}
}

// requireID is requireArgs for a command whose first argument is an id or the beginning of one. The form of the id is
// checked here, without a request to the server.
func requireID(names ...string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := requireArgs(names...)(cmd, args); err != nil {
			return err
		}
		return checkIDs(args[:1])
	}
}

// optionalArg permits one argument.
func optionalArg(name string) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return nil
		}
		return requireArgs(name)(cmd, args)
	}
}

// showCommand completes a command that reads one object and prints it. suffix is what follows the object's id or name in
// the path.
func showCommand[T any](a *app, cmd *cobra.Command, path, suffix string, write func(w io.Writer, value T)) *cobra.Command {
	onObject(a, cmd, path)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		name, err := a.resolveObject(cmd.Context(), path, args[0])
		if err != nil {
			return err
		}
		value, answer, err := fetch[T](cmd.Context(), a, newGet(path+pathSegment(name)+suffix))
		if err != nil {
			return err
		}
		return a.print(answer, func(w io.Writer) { write(w, value) })
	}
	return cmd
}

// resolveObject returns the name or id of the object that an argument of a reading command names.
func (a *app) resolveObject(ctx context.Context, path, text string) (string, error) {
	switch path {
	case "/jobs":
		return a.resolveJob(ctx, text, latest)
	case "/executions":
		return a.resolveExecution(ctx, text)
	case "/groups":
		return a.resolveID(ctx, path, text)
	}
	return text, nil
}

// actionCommand completes a command that sends a POST about an object with a name, and prints a sentence about the answer.
func actionCommand[T any](a *app, cmd *cobra.Command, path string, done func(value T) string) *cobra.Command {
	onObject(a, cmd, path)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		value, answer, err := fetch[T](cmd.Context(), a, newPost(path+pathSegment(args[0])+"/"+cmd.Name(), nil))
		if err != nil {
			return err
		}
		return a.printMessage(answer, "%s", done(value))
	}
	return cmd
}

// onObject sets the argument of a command about one object, and its completion.
func onObject(a *app, cmd *cobra.Command, path string) {
	if cmd.Args == nil {
		cmd.Args = requireArgs(map[string]string{"/jobs": "an ID or a NAME", "/executions": "an ID or a NAME", "/groups": "an ID"}[path])
		if fieldOf(path) == "name" {
			cmd.Args = requireArgs("a NAME")
		}
	}
	cmd.ValidArgsFunction = a.completeNames(path, fieldOf(path))
}

// fieldOf is the field that identifies the objects of a list.
func fieldOf(path string) string {
	switch path {
	case "/types", "/templates", "/schedules", "/users", "/roles":
		return "name"
	}
	return "id"
}

// untilSignal runs a command whose context ends with the first signal, so that it can remove what it has not completed.
func untilSignal(cmd *cobra.Command, run func(ctx context.Context) error) error {
	ctx, stop := signal.NotifyContext(cmd.Context(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx)
}

// commandName is the path of a command without the leading rota, for messages, which begin with rota.
func commandName(cmd *cobra.Command) string { return strings.TrimPrefix(cmd.CommandPath(), "rota ") }

// noArgs refuses arguments.
func noArgs() cobra.PositionalArgs { return requireArgs() }

// completionTimeout limits the request for names during shell completion, while the user waits for a key press.
const completionTimeout = time.Second

// completeNames completes the first argument with one field of a list of the server. Without an answer it completes
// nothing.
func (a *app) completeNames(path, field string) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.names(path, field), cobra.ShellCompDirectiveNoFileComp
	}
}

// fileFlags are the flags whose values are files or directories, or may name one. The shell completes them.
var fileFlags = []string{"file", "params", "schema", "store", "data", "config", "sql-cert", "sql-key"}

// objectFlags maps flags that name an object to the path of its list.
var objectFlags = map[string]string{
	"type": "/types", "template": "/templates", "schedule": "/schedules", "depends-on": "/schedules",
	"user": "/users", "group": "/groups", "execution": "/executions", "before": "/queue", "after": "/queue",
}

// completeFlags sets how the shell completes the flags that have no completion yet.
func (a *app) completeFlags(cmd *cobra.Command) {
	complete := func(f *pflag.Flag) {
		if _, set := cmd.GetFlagCompletionFunc(f.Name); set || slices.Contains(fileFlags, f.Name) {
			return
		}
		path, isObject := objectFlags[f.Name]
		complete := cobra.NoFileCompletions
		switch {
		case f.Name == "tz":
			complete = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return cron.ZoneNames(), cobra.ShellCompDirectiveNoFileComp
			}
		case isObject:
			complete = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
				return a.names(path, fieldOf(path)), cobra.ShellCompDirectiveNoFileComp
			}
		}
		if err := cmd.RegisterFlagCompletionFunc(f.Name, complete); err != nil {
			panic(err) // the flag is not declared: a bug in this program
		}
	}
	cmd.LocalFlags().VisitAll(complete)
	for _, verb := range cmd.Commands() {
		a.completeFlags(verb)
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
