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

// Names gives each entry a unique name: a prefix, its program, and some digits of a hash of the command. The name depends
// on the command and its user, not on the line or the times. The same crontab with added lines or changed times therefore
// gives the same names. Entries with equal commands are numbered.
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

// programMax bounds the program in a name.
const programMax = 40

// Program is what a command runs, as a word that a name can have: the program that does the work, or the script that it
// is given. It is a guess, made for people.
func Program(command string) string {
	parts := strings.FieldsFunc(command, func(c rune) bool { return c == '&' || c == '|' || c == ';' }) // where the shell begins another
	for _, preludesToo := range []bool{false, true} {
		for _, part := range parts {
			words := strings.FieldsFunc(part, func(c rune) bool { return strings.ContainsRune(" \t\n(){}", c) })
			if name := programOf(words, preludesToo); name != "" {
				return name
			}
		}
	}
	return "command"
}

// Preludes prepare something, or ask whether the work is to be done; openers stand before the program that does it, with
// options and values of their own; interpreters are given a script.
var (
	preludes     = []string{"cd", "test", "[", "[[", "command", ".", "source", "export", "set", "umask", "ulimit", "sleep", "true", ":", "echo", "date"}
	openers      = []string{"env", "nice", "ionice", "nohup", "sudo", "time", "timeout", "flock", "chronic", "setsid", "exec", "if", "then", "else", "do", "!"}
	interpreters = []string{"sh", "bash", "dash", "zsh", "ksh", "php", "python", "python2", "python3", "perl", "ruby", "node", "java"}
)

func programOf(words []string, preludesToo bool) string {
	interpreter, opened, skip := "", false, false
	for _, word := range words {
		word = strings.Trim(word, `"'`)
		base := path.Base(word)
		switch {
		case skip:
			skip = false
		case word == "" || strings.ContainsAny(word[:1], "<>") || assigns(word):
		case word[0] == '-':
			skip = opened && (word == "-u" || word == "-g") // whose name follows
			if interpreter != "" && inline.MatchString(word) {
				return interpreter
			}
		case interpreter != "":
			return cmp.Or(clean(trimScript(base)), interpreter)
		case slices.Contains(openers, base):
			opened = true
		case opened && openerValue.MatchString(word):
		case !preludesToo && slices.Contains(preludes, base):
			return ""
		case slices.Contains(interpreters, base):
			interpreter = clean(base)
		default:
			if name := clean(trimScript(base)); name != "" {
				return name
			}
		}
	}
	return interpreter
}

var (
	inline      = regexp.MustCompile(`^-(c|e|r|[a-z]c)$`)                     // by which an interpreter is given its script in place
	openerValue = regexp.MustCompile(`^([0-9.]+[smhd]?|.*\.(lock|lck|pid))$`) // what timeout, nice and flock are given
)

func assigns(word string) bool {
	name, _, found := strings.Cut(word, "=")
	return found && settingName.MatchString(name)
}

// trimScript takes the ending off a script.
func trimScript(base string) string {
	for _, ending := range []string{".sh", ".py", ".pl", ".rb", ".php", ".js", ".jar"} {
		if name, found := strings.CutSuffix(base, ending); found && name != "" {
			return name
		}
	}
	return base
}

// clean leaves what may stand in a name.
func clean(word string) string {
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
