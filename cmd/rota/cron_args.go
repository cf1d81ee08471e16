package main

import (
	"regexp"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// dashedField matches a field that begins with a dash and cannot be a flag.
var dashedField = regexp.MustCompile(`^-[0-9*/,-]*$`)

// protectDashedArgs prevents that a cron expression that begins with a dash, such as '-1 * * * *', or a negative
// priority is read as a flag. It moves all arguments that are not flags behind "--". Other command lines stay
// unchanged.
func protectDashedArgs(root *cobra.Command, args []string) []string {
	cmd, rest, err := root.Find(args)
	if err != nil || cmd.Name() != "cron" && cmd.Name() != "priority" {
		return args
	}
	flags, words, dashed := strings.Fields(cmd.CommandPath())[1:], []string{}, false
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		switch {
		case arg == "--":
			words = append(words, rest[i+1:]...)
			i = len(rest)
		case isDashedExpression(arg):
			words, dashed = append(words, arg), true
		case strings.HasPrefix(arg, "-"):
			flags = append(flags, arg)
			if takesValue(cmd, arg) && i+1 < len(rest) {
				i++
				flags = append(flags, rest[i])
			}
		default:
			words = append(words, arg)
		}
	}
	if !dashed {
		return args
	}
	return append(append(flags, "--"), words...)
}

// isDashedExpression reports whether an argument is an expression: it has several fields, as '-n5 * * * *', or no
// letter, as -1.
func isDashedExpression(arg string) bool {
	if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") && len(arg) > 2 && arg[2] != ' ' {
		return false
	}
	return len(strings.Fields(arg)) > 1 || arg != "--" && dashedField.MatchString(arg)
}

// takesValue reports whether a flag's value is the argument after it.
func takesValue(cmd *cobra.Command, arg string) bool {
	var flag *pflag.Flag
	if name, long := strings.CutPrefix(arg, "--"); long && !strings.Contains(name, "=") {
		flag = cmd.Flag(name)
	} else if !long && len(arg) == 2 {
		if flag = cmd.Flags().ShorthandLookup(arg[1:]); flag == nil {
			flag = cmd.InheritedFlags().ShorthandLookup(arg[1:])
		}
	}
	return flag != nil && flag.NoOptDefVal == ""
}
