package crontab

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// timeField matches a time field of any known cron implementation. Any other word is not part of the times.
var timeField = regexp.MustCompile(`^(?i:[0-9*/,?#~LWH()-]|SUN|MON|TUE|WED|THU|FRI|SAT|JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)+$`)

// parseEntry parses a line that runs a command.
func (r *parser) parseEntry(l line) {
	times, rest, ok := r.parseTimes(l)
	if !ok {
		return
	}
	e := Entry{Line: l.number, Times: times}
	if r.Form == FormSystem {
		if e.User, rest, ok = r.parseUser(l, rest); !ok {
			return
		}
	}
	if rest, ok = r.parseCommand(l, rest); !ok {
		return
	}
	e.Command, e.Input, e.HasInput = cutInput(rest)
	if strings.TrimSpace(e.Command) == "" {
		r.refuse(l.number, "%", "has no command before it", `write \% for a literal %`)
		return
	}
	if strings.HasSuffix(rest, `\`) {
		r.backslash = l.number
		r.note(l.number, "the line ends with a backslash; a crontab line does not continue on the next line, neither in cron nor in Rota")
	}
	e.Settings, e.Shell = r.environment(), r.settings["SHELL"].Value
	e.Zone, e.MailTo = r.settings["CRON_TZ"], r.settings["MAILTO"]
	r.Entries = append(r.Entries, e)
}

// parseTimes returns the times of a line and the text after them.
func (r *parser) parseTimes(l line) (times, rest string, ok bool) {
	text := l.text
	if text[0] == '@' {
		return r.parseNamed(l)
	}
	if text[0] == '-' && len(text) > 1 && strings.IndexByte("*0123456789", text[1]) >= 0 {
		text = text[1:]
		r.note(l.number, "the - before the times, which tells cron not to log the line, is ignored")
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
	if !r.checkDays(l, fields[2], fields[4]) || !r.refuseRandom(l, fields) {
		return "", "", false
	}
	return strings.Join(fields, " "), rest, true
}

// cutWord returns the first word of a text and the rest.
func cutWord(text string) (word, rest string) {
	text = strings.TrimLeft(text, whiteSpace)
	end := strings.IndexAny(text, whiteSpace)
	if end < 0 {
		return text, ""
	}
	return text[:end], strings.TrimLeft(text[end:], whiteSpace)
}

// refuseFields refuses a line whose times do not have five fields. The word is the first that is not a field.
func (r *parser) refuseFields(l line, fields []string, word string) (ok bool) {
	switch {
	case len(fields) == 0 && r.backslash > 0 && l.number == r.backslash+1: // without its text, which may contain a password
		r.refuse(l.number, "", fmt.Sprintf("the line seems to continue line %d, which ends with a backslash", r.backslash),
			"cron does not join lines: write the command in one line, or put it into a script")
	case len(fields) == 0:
		r.refuse(l.number, word, "is neither a time nor a setting", "begin a line with five time fields, with @daily or the like, with NAME=value, or with # for a comment")
	case word == "":
		r.refuse(l.number, l.text, "has "+fieldCount(len(fields))+" and no command", "write five: minute hour day-of-month month day-of-week, then the command")
	case len(fields) == 3 && misspells(word, isMonth):
		r.refuse(l.number, word, "is not a month", "write jan feb mar apr may jun jul aug sep oct nov dec, or 1 to 12")
	case len(fields) == 4 && misspells(word, isDay):
		r.refuse(l.number, word, "is not a day of the week", "write sun mon tue wed thu fri sat, or 0 to 7")
	default:
		r.refuse(l.number, word, "is not a time field: the line has only "+fieldCount(len(fields))+" before it", "write five: minute hour day-of-month month day-of-week; * for one that does not matter")
	}
	return false
}

// misspells reports whether a word that is not a time field was probably meant as one: a part of it is a name of a month
// or day that cron does not accept in this form.
func misspells(word string, is func(string) bool) bool {
	return slices.ContainsFunc(strings.FieldsFunc(strings.ToLower(word), func(c rune) bool { return strings.ContainsRune(",-/", c) }), is)
}

func isDay(word string) bool {
	return strings.HasSuffix(word, "day") || isPrefixOf(word, "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
}

func isMonth(word string) bool {
	return isPrefixOf(word, "january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december")
}

// isPrefixOf reports whether a word is a prefix of one of the names, longer than the three letters that cron accepts.
func isPrefixOf(word string, names ...string) bool {
	return len(word) > 3 && slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, word) })
}

func fieldCount(n int) string {
	if n == 1 {
		return "1 time field"
	}
	return fmt.Sprintf("%d time fields", n)
}

// names maps the names that replace five fields to their times. Only FreeBSD has @every_minute.
var names = map[string]string{
	"@hourly": "@hourly", "@daily": "@daily", "@midnight": "@midnight", "@weekly": "@weekly", "@monthly": "@monthly",
	"@yearly": "@yearly", "@annually": "@annually", "@every_minute": "* * * * *",
}

func (r *parser) parseNamed(l line) (times, rest string, ok bool) {
	word, rest := cutWord(l.text)
	if times := names[strings.ToLower(word)]; times != "" {
		return times, rest, true
	}
	switch strings.ToLower(word) {
	case "@reboot":
		r.refuse(l.number, word, "cannot be imported: a schedule is not bound to one machine",
			"enqueue the job from a boot script, such as a systemd unit that calls rota job create")
	case "@every":
		r.refuse(l.number, word, "is not a crontab keyword", "create the schedule with rota schedule create NAME --every DURATION")
	case "@every_second":
		r.refuse(l.number, word, "cannot be imported: a crontab line has no seconds", "create the schedule with rota schedule create NAME --every 1s")
	default:
		r.refuse(l.number, word, "is not known", "use one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly and @annually")
	}
	return "", "", false
}

// randomRange matches a range from which cron takes a random value.
var randomRange = regexp.MustCompile(`^([0-9]*)~([0-9]*)$`)

// refuseRandom refuses fields with ~, for which cron chooses a random value each time it reads the file.
func (r *parser) refuseRandom(l line, fields []string) (ok bool) {
	for _, field := range fields {
		if !strings.Contains(field, "~") {
			continue
		}
		remedy := "write H, which Rota computes from the name and never changes"
		if m := randomRange.FindStringSubmatch(field); m != nil && m[1] != "" && m[2] != "" {
			remedy = "write H(" + m[1] + "-" + m[2] + "), which Rota computes from the name and never changes"
		}
		r.refuse(l.number, field, "is a random time", remedy)
		return false
	}
	return true
}

var userName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.@-]*\$?(:[A-Za-z0-9_.@-]+)?(/[A-Za-z0-9_.-]+)?$`)

// parseUser returns the user and the command of a system crontab line, from the text after the times.
func (r *parser) parseUser(l line, rest string) (user, command string, ok bool) {
	user, command = cutWord(rest)
	switch {
	case user == "":
		r.refuse(l.number, l.text, "has neither user nor command", "write both after the times")
	case !userName.MatchString(user):
		r.refuse(l.number, user, "is not a user name", "write USER COMMAND after the times, or use --user if the file has no user column")
	case command == "":
		r.refuse(l.number, l.text, "has a user and no command", "write the command after the user, or use --user if the file has no user column")
	default:
		return user, command, true
	}
	return "", "", false
}

// bsdOptions matches the options that BSD crons allow before a command.
var bsdOptions = regexp.MustCompile(`^-[nqs]+[ \t]+`)

// parseCommand returns the command without BSD options. It refuses an empty command and a sixth time field.
func (r *parser) parseCommand(l line, text string) (command string, ok bool) {
	for {
		option := bsdOptions.FindString(text)
		if option == "" {
			break
		}
		text = text[len(option):]
		r.note(l.number, "%s, an option of the BSD cron, is ignored%s", strings.Trim(option, whiteSpace), optionHint(option))
	}
	word, _ := cutWord(text)
	switch {
	case word == "":
		r.refuse(l.number, l.text, "has no command", "write one after the times")
	case sixthField.MatchString(word):
		r.refuse(l.number, word, "is not a command: the line has six time fields", "remove the seconds: minute hour day-of-month month day-of-week")
	default:
		return text, true
	}
	return "", false
}

// sixthField matches a word that is a sixth time field and not a command.
var sixthField = regexp.MustCompile(`^(\*|\?|[0-9]+|\*/[0-9]+|[0-9]+([-,/][0-9]+)+)$`)

func optionHint(option string) string {
	if strings.Contains(option, "s") {
		return "; for one run at a time use rota schedule edit NAME --overlap skip"
	}
	return ""
}
