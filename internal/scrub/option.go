package scrub

import (
	"cmp"
	"regexp"
	"strings"
)

// passwordOption is an option of some programs whose value is a password, without a name that says so: mysql -pSECRET.
type passwordOption struct {
	programs string // pattern of their names
	option   string // pattern of the option, up to the password
	value    string // pattern of the password; empty: optionValue
}

// optionValue matches a value in quotes or a word. One that begins with $ or ` is the name of a variable or a command.
const optionValue = "('[^']*'|\"[^\"$`][^\"]*\"|[^\\s'\"$`|;&)][^\\s'\"|;&)]*)"

// argumentValue is optionValue of an argument without an option before it, which does not begin with a dash.
const argumentValue = "('[^']*'|\"[^\"$`][^\"]*\"|[^\\s'\"$`|;&)-][^\\s'\"|;&)]*)"

var passwordOptions = compileOptions([]passwordOption{
	{`mysql[a-z]*|mariadb[a-z-]*|7z[ar]?|rar|unrar`, `-p`, ``}, // a space after -p means that the program asks for it
	{`sshpass|mongo[a-z]*|docker[ \t]+login|podman[ \t]+login|rabbitmqadmin|ncftp[a-z]*`, `-p[ \t]*`, ``},
	{`curl`, `(?:-[a-zA-Z]*[uU][ \t]*|--(?:proxy-)?user(?:=|[ \t]+))["']?[^\s:'"]+:`, ``},
	{`https?|xhs?`, `(?:-a[ \t]*|--auth(?:=|[ \t]+))["']?[^\s:'"]+:`, ``},
	{`lftp`, `-u[ \t]*[^\s,]+,`, ``},
	{`redis-cli`, `-a[ \t]+`, ``},
	{`influx`, `-t[ \t]*`, ``},
	{`ldap[a-z]+`, `-w[ \t]*`, ``},
	{`zip|unzip|isql|sqlcmd|bcp|ipmitool`, `-P[ \t]*`, ``},
	{`mosquitto_[a-z]+`, `(?:-P[ \t]*|--pw[ \t]+)`, ``},
	{`snmp[a-z]+`, `-[cAX][ \t]*`, ``},
	{`smbclient|rpcclient|net`, `-U[ \t]*["']?[^\s%'"]+%`, ``},
	{`smbclient`, `["']?//[^\s'"]+["']?[ \t]+`, argumentValue},
	{`sqlplus|sqlldr|rman|(?:exp|imp)(?:dp)?`, `(?:userid=)?["']?[^\s/'"=@-][^\s/'"=]*/`, ``},
	{`openssl`, `-(?:pass|passin|passout)[ \t]+["']?pass:`, ``},
	{`openssl[ \t]+enc`, `-k[ \t]+`, ``},
	{`htpasswd`, `-[A-Za-z]*b[A-Za-z]*[ \t]+(?:\S+[ \t]+)?\S+[ \t]+`, ``},
})

// compileOptions returns a pattern per option: the program, any other arguments of the same command, the option, the
// password.
func compileOptions(options []passwordOption) (compiled []*regexp.Regexp) {
	for _, o := range options {
		compiled = append(compiled, regexp.MustCompile(`(\b(?:`+o.programs+`)(?:\.exe)?[ \t](?:[^|;&\n]*?[ \t])?`+o.option+`)`+cmp.Or(o.value, optionValue)+`()`))
	}
	return compiled
}

// passwordInputs match a password that a program reads from its input: the text before it, the password, the text after
// it.
var passwordInputs = []*regexp.Regexp{
	regexp.MustCompile(`(\b(?:echo|printf)[ \t]+(?:-[a-zA-Z]+[ \t]+)*)` + optionValue +
		`([ \t]*\|[^|;&\n]*(?:\bsudo\b[^|;&\n]*[ \t]-[A-Za-z]*S|passwd\b|-password-stdin))`),
	regexp.MustCompile(`(?s)(\bl?ftp\b.*?\n[ \t]*(?:user|USER)[ \t]+\S+[ \t]+)` + optionValue + `()`),
}

func hideOptions(text string) string { return hideValues(passwordOptions, text) }

func hideInputs(text string) string { return hideValues(passwordInputs, text) }

// hideValues hides the second group of each pattern, and keeps its quotes.
func hideValues(patterns []*regexp.Regexp, text string) string {
	for _, pattern := range patterns {
		text = replace(pattern, text, func(m []string) string {
			value := m[2]
			quote := value[:1]
			switch {
			case strings.HasPrefix(strings.Trim(value, `'"`), Hidden): // a variable, or hidden before
				return m[0]
			case strings.ContainsAny(quote, `'"`) && len(value) > 2:
				return m[1] + quote + Hidden + quote + m[3]
			}
			return m[1] + Hidden + m[3]
		})
	}
	return text
}
