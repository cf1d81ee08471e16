package crontab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// timeField matches what may be a field of the times of some cron. What is none is the rest of the line.
var timeField = regexp.MustCompile(`^(?i:[0-9*/,?#~LWH()-]|SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$`)

// entry reads a line that runs something.
func (r *reader) entry(l line) {
	times, rest, fine := r.times(l)
	if !fine {
		return
	}
	e := Entry{Line: l.number, Times: times}
	if r.Form == FormSystem {
		if e.User, rest, fine = r.user(l, rest); !fine {
			return
		}
	}
	if rest, fine = r.command(l, rest); !fine {
		return
	}
	e.Command, e.Input, e.HasInput = cutInput(rest)
	if strings.TrimSpace(e.Command) == "" {
		r.refuse(l.number, rest, "has no command before the first %", `write \% for a % that is none of cron's`)
		return
	}
	if strings.HasSuffix(rest, `\`) {
		r.note(l.number, "the line ends with a backslash: a crontab line does not go on on the next one, neither with cron nor here")
	}
	e.Settings, e.Shell = r.settingsOf(), r.settings["SHELL"]
	e.Zone, e.MailTo = r.settings["CRON_TZ"], r.settings["MAILTO"]
	r.Entries = append(r.Entries, e)
}

// times takes the times off a line.
func (r *reader) times(l line) (times, rest string, fine bool) {
	text := l.text
	if text[0] == '@' {
		return r.named(l)
	}
	if text[0] == '-' && len(text) > 1 && strings.IndexByte("*0123456789", text[1]) >= 0 {
		text = text[1:]
		r.note(l.number, "the - before the times, by which cron does not log the line, is left out")
	}
	var fields []string
	rest = text
	for len(fields) < 5 {
		word, after := cutWord(rest)
		if !timeField.MatchString(word) {
			return "", "", r.refuseFields(l, fields, word)
		}
		fields, rest = append(fields, word), after
	}
	if !r.sameDays(l, fields[2], fields[4]) || !r.noChance(l, fields) {
		return "", "", false
	}
	return strings.Join(fields, " "), rest, true
}

// cutWord takes the first word off a text.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, blank)
	end := strings.IndexAny(text, blank)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], blank)
}

// refuseFields says why a line has not the five fields of a time.
func (r *reader) refuseFields(l line, fields []string, word string) (fine bool) {
	switch {
	case len(fields) == 0:
		r.refuse(l.number, word, "is neither a time nor a setting", "begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment")
	case word == "":
		r.refuse(l.number, l.text, "has "+fieldCount(len(fields))+" and nothing behind", "write five: minute hour day-of-month month day-of-week, then the command")
	case len(fields) == 3 && misnames(word, isMonth):
		r.refuse(l.number, word, "is not a month", "write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12")
	case len(fields) == 4 && misnames(word, isDay):
		r.refuse(l.number, word, "is not a day of the week", "write sun mon tue wed thu fri sat, or 0 to 7")
	default:
		r.refuse(l.number, word, "stands where a time field should be: there are only "+fieldCount(len(fields))+" before it", "write five: minute hour day-of-month month day-of-week; * for one that does not matter")
	}
	return false
}

// misnames reports whether a word that is no time field was meant for one: a part of it is a name, written otherwise than
// cron does.
func misnames(word string, is func(string) bool) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(word), func(c rune) bool { return strings.ContainsRune(",-/", c) }), is)
}

func isDay(word string) bool {
	return strings.HasSuffix(word, "day") || begins(word, "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
}

func isMonth(word string) bool {
	return begins(word, "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december")
}

// begins reports whether a word is the begin of a name, longer than cron's three letters.
func begins(word string, names ...string) bool {
	return len(word) > 3 && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) })
}

func fieldCount(n int) string {
	if n == 1 {
		return "1 time field"
	}
	return fmt.Sprintf("%d time fields", n)
}

// names are the words for whole times. FreeBSD has the last.
var names = map[string]string{
	"@hourly": "@hourly", "@daily": "@daily", "@midnight": "@midnight", "@weekly": "@weekly", "@monthly": "@monthly",
	"@yearly": "@yearly", "@annually": "@annually", "@every_minute": "* * * * *",
}

func (r *reader) named(l line) (times, rest string, fine bool) {
	word, rest := cutWord(l.text)
	if times := names[strings.ToLower(word)]; times != "" {
		return times, rest, true
	}
	switch strings.ToLower(word) {
	case "@reboot":
		r.refuse(l.number, word, "cannot be taken over: a schedule goes by the clock, and outlives the machine",
			"start it from whatever starts the machine, such as a systemd unit that calls rota job create")
	case "@every":
		r.refuse(l.number, word, "is no word of a crontab", "make the schedule with rota schedule create NAME --every DURATION")
	case "@every_second":
		r.refuse(l.number, word, "cannot be taken over: the times of a line are whole minutes", "make the schedule with rota schedule create NAME --every 1s")
	default:
		r.refuse(l.number, word, "is not known", "there are @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually")
	}
	return "", "", false
}

// chance matches a range of which cron takes one value at random.
var chance = regexp.MustCompile(`^([0-9]*)~([0-9]*)$`)

// noChance refuses times that are chosen at random each time that cron reads the file.
func (r *reader) noChance(l line, fields []string) (fine bool) {
	for _, field := range fields {
		if !strings.Contains(field, "~") {
			continue
		}
		remedy := "write H, by which Rota chooses a time from the name, the same for ever"
		if m := chance.FindStringSubmatch(field); m != nil && m[1] != "" && m[2] != "" {
			remedy = "write H(" + m[1] + "-" + m[2] + "), by which Rota chooses a time from the name, the same for ever"
		}
		r.refuse(l.number, field, "is a time that cron chooses at random", remedy)
		return false
	}
	return true
}

var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*\$?(:[A-Za-z0-9_.@-]+)?(/[A-Za-z0-9_.-]+)?$`)

// user takes the user off the rest of a line.
func (r *reader) user(l line, rest string) (user, command string, fine bool) {
	user, command = cutWord(rest)
	switch {
	case user == "":
		r.refuse(l.number, l.text, "has neither user nor command", "write both behind the times")
	case !userName.MatchString(user):
		r.refuse(l.number, user, "stands where the user should be, and is no user", "write USER COMMAND behind the times, or read the file with --user if it has no such column")
	case command == "":
		r.refuse(l.number, l.text, "has a user and no command", "write the command behind the user, or read the file with --user if it has no such column")
	default:
		return user, command, true
	}
	return "", "", false
}

// options matches what the BSDs let stand before a command.
var options = regexp.MustCompile(`^-[nqs]+[ \t]+`)

// command looks at what is to be run.
func (r *reader) command(l line, text string) (command string, fine bool) {
	for {
		option := options.FindString(text)
		if option == "" {
			break
		}
		text = text[len(option):]
		r.note(l.number, "%s, an option of the BSDs' cron, is left out%s", strings.Trim(option, blank), optionHint(option))
	}
	word, _ := cutWord(text)
	switch {
	case word == "":
		r.refuse(l.number, l.text, "has no command", "write one behind the five time fields")
	case sixth.MatchString(word):
		r.refuse(l.number, word, "stands where the command should be: there are six time fields", "leave the seconds out: minute hour day-of-month month day-of-week")
	default:
		return text, true
	}
	return "", false
}

// sixth matches a word that is a sixth time field and no command.
var sixth = regexp.MustCompile(`^(\*|\?|[0-9]+|\*/[0-9]+|[0-9]+([-,/][0-9]+)+)$`)

func optionHint(option string) string {
	if strings.Contains(option, "s") {
		return "; for one run at a time use rota schedule edit NAME --overlap skip"
	}
	return ""
}
