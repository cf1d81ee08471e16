package crontab

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Names returns a unique name for each entry: a prefix, its program, and some digits of a hash of the command. The name
// depends on the command, its input and its user, not on the line or the times. So the names stay the same if lines are
// added or times change. Entries with equal commands are numbered.
func Names(entries []Entry, prefix string) []string {
	names, owners, copies := make([]string, len(entries)), map[string]string{}, map[string]int{}
	for i, e := range entries {
		sum := sha256.Sum256([]byte(e.User + "\x00" + e.Command + "\x00" + e.Input))
		digest := hex.EncodeToString(sum[:])
		digits, name := 6, ""
		for {
			name = prefix + Program(e.Command) + "-" + digest[:digits]
			if owner, taken := owners[name]; !taken || owner == digest || digits == len(digest) {
				break
			}
			digits += 2
		}
		owners[name] = digest
		copies[digest]++
		if n := copies[digest]; n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		names[i] = name
	}
	return names
}

// programMax limits the length of the program in a name, in bytes.
const programMax = 40

// Program returns the program that a command runs, or the script if the program is an interpreter, as a word that is
// allowed in a name. It is a heuristic for readable names.
func Program(command string) string {
	parts := strings.FieldsFunc(command, func(c rune) bool { return c == '&' || c == '|' || c == ';' }) // these separate commands
	for _, includePreparations := range []bool{false, true} {
		for _, part := range parts {
			words := strings.FieldsFunc(part, func(c rune) bool { return strings.ContainsRune(" \t\n(){}", c) })
			if name := programIn(words, includePreparations); name != "" {
				return name
			}
		}
	}
	return "command"
}

// preparations prepare something or check a condition. wrappers have options and values of their own, followed by the
// program that does the work. interpreters run a script.
var (
	preparations = []string{"cd", "test", "[", "[[", "command", ".", "source", "export", "set", "umask", "ulimit", "sleep", "true", ":", "echo", "date"}
	wrappers     = []string{"env", "nice", "ionice", "nohup", "sudo", "time", "timeout", "flock", "chronic", "setsid", "exec", "if", "then", "else", "do", "!"}
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "php", "python", "python2", "python3", "perl", "ruby", "node", "java"}
)

func programIn(words []string, includePreparations bool) string {
	interpreter, wrapped, skip := "", false, false
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		base := path.Base(word)
		switch {
		case skip:
			skip = false
		case word == "" || strings.ContainsAny(word[:1], "<>") || isAssignment(word):
		case word[0] == '-':
			skip = wrapped && (word == "-u" || word == "-g") // the name of the user or group follows
			if interpreter != "" && inline.MatchString(word) {
				return interpreter
			}
		case interpreter != "":
			return cmp.Or(cleanName(trimScript(base)), interpreter)
		case slices.Contains(wrappers, base):
			wrapped = true
		case wrapped && wrapperValue.MatchString(word):
		case !includePreparations && slices.Contains(preparations, base):
			return ""
		case slices.Contains(interpreters, base):
			interpreter = cleanName(base)
		default:
			if name := cleanName(trimScript(base)); name != "" {
				return name
			}
		}
	}
	return interpreter
}

var (
	inline       = regexp.MustCompile(`^-(c|e|r|[a-z]c)$`)                     // options followed by the script itself
	wrapperValue = regexp.MustCompile(`^([0-9.]+[smhd]?|.*\.(lock|lck|pid))$`) // values of timeout, nice and flock
)

func isAssignment(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && settingName.MatchString(name)
}

// trimScript removes the file extension of a script.
func trimScript(base string) string {
	for _, ending := range []string{".sh", ".py", ".pl", ".rb", ".php", ".js", ".jar"} {
		if name, found := strings.CutSuffix(base, ending); found && name != "" {
			return name
		}
	}
	return base
}

// cleanName replaces characters that are not allowed in a name.
func cleanName(word string) string {
	word = strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '.', c == '_', c == '-':
			return c
		}
		return '-'
	}, word)
	word = strings.Trim(word, "-._")
	return strings.Trim(word[:min(len(word), programMax)], "-._")
}
