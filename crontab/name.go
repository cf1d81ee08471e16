package crontab

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Naming is what Names needs besides the entries.
type Naming struct {
	Prefix string
	Kept   map[int]string                   // names of entries, by index, that have one already
	Taken  func(name string, e *Entry) bool // whether an entry must not have a name; nil: it may have any
}

// Names returns a unique name for each entry: a prefix and the words of its command, such as certbot or report-daily. If
// different commands have the same words, each gets its first long option or, if that is not unique either, some digits of
// a hash of the command. The name depends on the commands, their inputs and users, not on the lines, their order and their
// times. Entries with equal commands are numbered.
func Names(entries []Entry, naming Naming) []string {
	n := namer{Naming: naming, owners: map[string]map[string]bool{}, used: map[string]bool{}, names: map[string]string{}}
	for i := range entries {
		e := &entries[i]
		for _, name := range n.candidates(e) {
			if n.owners[name] == nil {
				n.owners[name] = map[string]bool{}
			}
			n.owners[name][e.Digest()] = true
		}
		if name, kept := naming.Kept[i]; kept {
			n.use(name, e)
		}
	}
	all := make([]string, len(entries))
	for i := range entries {
		if name, kept := naming.Kept[i]; kept {
			all[i] = name
			continue
		}
		all[i] = n.name(&entries[i])
		n.use(all[i], &entries[i])
	}
	return all
}

type namer struct {
	Naming
	owners map[string]map[string]bool // digests of the commands with this name as a candidate
	used   map[string]bool
	names  map[string]string // first name of each digest
}

func (n *namer) use(name string, e *Entry) {
	n.used[name] = true
	if n.names[e.Digest()] == "" {
		n.names[e.Digest()] = name
	}
}

func (n *namer) free(name string, e *Entry) bool {
	return !n.used[name] && (n.Taken == nil || !n.Taken(name, e))
}

func (n *namer) name(e *Entry) string {
	if first := n.names[e.Digest()]; first != "" { // another line has the same command
		for copies := 2; ; copies++ {
			if name := fmt.Sprintf("%s-%d", first, copies); n.free(name, e) {
				return name
			}
		}
	}
	candidates := n.candidates(e)
	for _, name := range candidates {
		if len(n.owners[name]) == 1 && n.free(name, e) {
			return name
		}
	}
	digits := 6
	for ; digits < len(e.Digest()); digits += 2 {
		if name := candidates[0] + "-" + e.Digest()[:digits]; n.free(name, e) {
			return name
		}
	}
	return candidates[0] + "-" + e.Digest()
}

// candidates returns the names of an entry without a hash, the best first.
func (n *namer) candidates(e *Entry) []string {
	p := findProgram(e.Command, 0)
	if p.name == "" {
		p.name = "command"
	}
	names := []string{n.Prefix + p.name}
	if p.option != "" {
		names = append(names, n.Prefix+cleanName(p.name+"-"+p.option))
	}
	return names
}

// Digest identifies the command of an entry, with its input and its user.
func (e *Entry) Digest() string {
	sum := sha256.Sum256([]byte(e.User + "\x00" + e.Command + "\x00" + e.Input))
	return hex.EncodeToString(sum[:])
}

// nameMax limits the length of a name without its prefix and suffix, in bytes.
const nameMax = 40

// cleanName replaces characters that a name should not contain by single dashes.
func cleanName(text string) string {
	words := strings.FieldsFunc(text, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_'
	})
	name := strings.Join(words, "-")
	return strings.Trim(name[:min(len(name), nameMax)], "-_")
}
