package crontab

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// rank orders the simple commands of a line by how well they describe it. The first one with the highest rank names the
// line.
type rank int

const (
	rankNone        rank = iota
	rankPreparation      // checks a condition or prepares something: test, cd, sleep
	rankInline           // an interpreter that runs a text: perl -e '…'
	rankProgram          // a program or a script
)

// program is what a command runs.
type program struct {
	rank   rank
	name   string // its program or script, and the subcommand after it, as a word that is allowed in a name
	option string // name of its first long option; empty if it has none
}

// nestingMax limits how deep a command in quotes, as in sh -c '…', is searched for its program.
const nestingMax = 4

// findProgram returns the program that a shell command runs. It looks through wrappers such as flock, and prefers the
// script to its interpreter.
func findProgram(command string, depth int) (found program) {
	for _, words := range splitShell(command) {
		if p := programOf(words, depth); p.rank > found.rank {
			found = p
		}
	}
	return found
}

// programOf returns the program of a simple command.
func programOf(words []string, depth int) program {
	for len(words) > 0 {
		base, args := path.Base(words[0]), words[1:]
		switch {
		case words[0] == "" || isAssignment(words[0]) || slices.Contains(keywords, words[0]):
			words = args
			continue
		case slices.Contains(preparations, base) || base == "command" && len(args) > 0 && strings.EqualFold(args[0], "-v"):
			return program{rank: rankPreparation, name: cleanName(base)}
		}
		if w, is := wrapperOf(base, args); is {
			rest, script := w.cutOptions(args)
			if script == "" && len(rest) == 0 {
				return program{rank: rankPreparation, name: cleanName(base)}
			}
			if script != "" {
				return programIn(script, base, depth)
			}
			words = rest
			continue
		}
		if i, is := interpreterOf(base); is {
			return i.programOf(base, args, depth)
		}
		if words[0][0] == '-' {
			return program{} // an option, which may be a password, and not a program
		}
		return newProgram(words[0], args)
	}
	return program{}
}

// programIn returns the program of a command in quotes, or else the program that runs it.
func programIn(script, runner string, depth int) program {
	if depth < nestingMax {
		if p := findProgram(script, depth+1); p.rank == rankProgram {
			return p
		}
	}
	return program{rank: rankInline, name: cleanName(runner)}
}

// newProgram names a program or a script. A word directly after it is taken for a subcommand; a word after an option may
// be a value of the option, and a password.
func newProgram(file string, args []string) program {
	name := trimScript(path.Base(file))
	if slices.Contains(generalNames, strings.ToLower(name)) {
		for dir := path.Dir(file); dir != "/" && dir != "."; dir = path.Dir(dir) {
			if parent := path.Base(dir); !slices.Contains(generalDirectories, parent) {
				name = parent + "-" + name
				break
			}
		}
	}
	if len(args) > 0 && subcommand.MatchString(args[0]) {
		name += "-" + args[0]
	}
	p := program{rank: rankProgram, name: cleanName(name)}
	if p.name == "" {
		return program{}
	}
	for _, arg := range args {
		if long := longOption.FindStringSubmatch(arg); long != nil {
			p.option = long[1]
			break
		}
	}
	return p
}

var (
	subcommand = regexp.MustCompile(`^[a-z][a-z_:-]{0,23}$`)
	longOption = regexp.MustCompile(`^--([a-z][a-z-]*)(=|$)`)

	// generalNames are names of scripts that say little without their directory, as in /srv/nextcloud/cron.php.
	generalNames       = strings.Fields("cli command console cron daily hourly index job jobs main manage run script start task tasks update weekly")
	generalDirectories = strings.Fields("bin sbin cron crons cronjobs scripts script src usr local opt srv var www html public home root etc jobs app current ~ $HOME ${HOME}")
)

var (
	// keywords are words of the shell before a command.
	keywords = strings.Fields("if then elif else do while until fi done esac { } ! time")

	// preparations name a line only if it has nothing else.
	preparations = strings.Fields(`cd pushd popd test [ [[ . source export set unset umask ulimit sleep true false : echo printf date which type hash
		wait trap read exit for case mkdir touch rm`)
)

// wrapper is a program that runs the program in its arguments.
type wrapper struct {
	valued   string // options followed by a value of their own
	operands int    // words before the program that are not options, such as the lock file of flock
	script   string // option followed by a shell command in one word
}

var wrappers = map[string]wrapper{
	"env": {valued: "-u --unset -C --chdir"}, "nice": {valued: "-n --adjustment"}, "ionice": {valued: "-c --class -n --classdata"},
	"nohup": {}, "setsid": {}, "exec": {valued: "-a"}, "command": {}, "builtin": {}, "chronic": {}, "cronic": {}, "run-one": {},
	"run-this-one": {}, "unbuffer": {}, "eatmydata": {}, "faketime": {operands: 1},
	"sudo":    {valued: "-u --user -g --group -h --host -p --prompt -C -D --chdir -r -t -T -U"},
	"doas":    {valued: "-u -C"},
	"time":    {valued: "-f --format -o --output"},
	"timeout": {valued: "-k --kill-after -s --signal", operands: 1},
	"flock":   {valued: "-w --wait --timeout -E --conflict-exit-code", operands: 1, script: "-c --command"},
	"lckdo":   {valued: "-W", operands: 1}, "setlock": {operands: 1},
	"su":      {valued: "-s --shell -g --group -G --supp-group -w --whitelist-environment", operands: 99, script: "-c --command"},
	"runuser": {valued: "-u --user -g --group -G --supp-group"},
	"gosu":    {operands: 1}, "su-exec": {operands: 1}, "setuidgid": {operands: 1}, "chroot": {operands: 1}, "stdbuf": {valued: "-i -o -e"},
	"chrt": {operands: 1}, "taskset": {operands: 1}, "cgexec": {valued: "-g"}, "systemd-cat": {valued: "-t --identifier -p --priority"},
	"systemd-run": {valued: "-u --unit -p --property -E --setenv --uid --gid --slice --description -M --machine -H --host"},
	"watch":       {valued: "-n --interval"}, "xargs": {valued: "-n -P -I -L -d -s -a"}, "sshpass": {valued: "-p -f -d -P"},
}

// runners are programs with a subcommand that runs the program after it, as in bundle exec rake.
var runners = map[string]string{"bundle": "exec", "poetry": "run", "pipenv": "run"}

// wrapperOf returns the wrapper of a name. runuser takes the options of su unless it has -u.
func wrapperOf(base string, args []string) (wrapper, bool) {
	if base == "runuser" && !slices.Contains(args, "-u") {
		base = "su"
	}
	if run, known := runners[base]; known && len(args) > 1 && args[0] == run {
		return wrapper{operands: 1}, true
	}
	w, is := wrappers[base]
	return w, is
}

// cutOptions returns the words after the options and operands of a wrapper, or the script of its option.
func (w wrapper) cutOptions(args []string) (rest []string, script string) {
	operands := w.operands
	for i := 0; i < len(args); i++ {
		word := args[i]
		switch {
		case word == "--":
		case slices.Contains(strings.Fields(w.script), word):
			return nil, strings.Join(args[min(i+1, len(args)):min(i+2, len(args))], "")
		case strings.HasPrefix(word, "-") && len(word) > 1:
			if slices.Contains(strings.Fields(w.valued), word) {
				i++
			}
		case isAssignment(word) || word == "-":
		case operands > 0:
			operands--
		default:
			return args[i:], ""
		}
	}
	return nil, ""
}

// interpreter is a program that runs the script in its arguments.
type interpreter struct {
	valued string         // options followed by a value of their own
	inline *regexp.Regexp // options followed by the script itself
	shell  bool           // the script is a shell command
}

var (
	inlineC = regexp.MustCompile(`^-[A-Za-z]*c$`)
	inlineE = regexp.MustCompile(`^(-[A-Za-z]*[eE]|-p|--eval|--print)$`)
	inlineR = regexp.MustCompile(`^-[rBRE]$`)
	inlined = regexp.MustCompile(`^$`)
)

var interpreters = []struct {
	name *regexp.Regexp
	interpreter
}{
	{regexp.MustCompile(`^(sh|bash|dash|ash|zsh|ksh|busybox)$`), interpreter{valued: "-o -O", inline: inlineC, shell: true}},
	{regexp.MustCompile(`^python[0-9.]*$`), interpreter{valued: "-W -X", inline: inlineC}},
	{regexp.MustCompile(`^(perl|ruby)[0-9.]*$`), interpreter{valued: "-I", inline: inlineE}},
	{regexp.MustCompile(`^(node|nodejs|deno|bun)$`), interpreter{valued: "-r --require", inline: inlineE}},
	{regexp.MustCompile(`^php[0-9.]*$`), interpreter{valued: "-c -d -z", inline: inlineR}},
	{regexp.MustCompile(`^java$`), interpreter{valued: "-cp -classpath --class-path", inline: inlined}},
	{regexp.MustCompile(`^run-parts$`), interpreter{valued: "-a -u", inline: inlined}}, // it runs the scripts of a directory
}

func interpreterOf(base string) (interpreter, bool) {
	for _, i := range interpreters {
		if i.name.MatchString(base) {
			return i.interpreter, true
		}
	}
	return interpreter{}, false
}

// programOf returns the script that an interpreter runs.
func (i interpreter) programOf(base string, args []string, depth int) program {
	for n := 0; n < len(args); n++ {
		switch word := args[n]; {
		case i.inline.MatchString(word):
			if i.shell && n+1 < len(args) {
				return programIn(args[n+1], base, depth)
			}
			return program{rank: rankInline, name: cleanName(base)}
		case slices.Contains(strings.Fields(i.valued), word):
			n++
		case strings.HasPrefix(word, "-"):
		default:
			if p := newProgram(word, args[n+1:]); p.name != "" {
				return p
			}
		}
	}
	return program{rank: rankInline, name: cleanName(base)}
}

func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && settingName.MatchString(name)
}

// trimScript removes the file extension of a script.
func trimScript(base string) string {
	for _, ending := range []string{".sh", ".bash", ".py", ".pl", ".rb", ".php", ".js", ".mjs", ".ts", ".jar"} {
		if name, found := strings.CutSuffix(base, ending); found && name != "" {
			return name
		}
	}
	return base
}
