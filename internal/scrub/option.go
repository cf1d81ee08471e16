package scrub

import (
	"regexp"
	"strings"
)

// passwordOption is an option of some programs whose value is a password, without a name that says so: mysql -pSECRET.
type passwordOption struct {
	programs string // pattern of their names
	option   string // pattern of the option, up to the password
}

// optionValue matches a value in quotes or a word. One that begins with $ or ` is the name of a variable or a command.
const optionValue = "('[^']*'|\"[^\"$`][^\"]*\"|[^\\s'\"$`|;&)][^\\s'\"|;&)]*)"

var passwordOptions = compileOptions([]passwordOption{
	{`mysql[a-z]*|mariadb[a-z-]*|7z[ar]?|rar|unrar`, `-p`}, // a space after -p means that the program asks for it
	{`sshpass|mongo[a-z]*|docker[ \t]+login|podman[ \t]+login|rabbitmqadmin`, `-p[ \t]*`},
	{`curl`, `(?:-[a-zA-Z]*[uU][ \t]*|--(?:proxy-)?user(?:=|[ \t]+))["']?[^\s:'"]+:`},
	{`lftp`, `-u[ \t]*[^\s,]+,`},
	{`redis-cli`, `-a[ \t]+`},
	{`ldap[a-z]+`, `-w[ \t]*`},
	{`zip|unzip|isql|sqlcmd|bcp|ipmitool`, `-P[ \t]*`},
	{`smbclient|rpcclient|net`, `-U[ \t]*["']?[^\s%'"]+%`},
	{`openssl`, `-(?:pass|passin|passout)[ \t]+["']?pass:`},
	{`openssl[ \t]+enc`, `-k[ \t]+`},
	{`htpasswd`, `-[A-Za-z]*b[A-Za-z]*[ \t]+(?:\S+[ \t]+)?\S+[ \t]+`},
})

// compileOptions returns a pattern per option: the program, any other arguments of the same command, the option, the
// password.
func compileOptions(options []passwordOption) (compiled []*regexp.Regexp) {
	for _, o := range options {
		compiled = append(compiled, regexp.MustCompile(`(\b(?:`+o.programs+`)(?:\.exe)?[ \t](?:[^|;&\n]*?[ \t])?`+o.option+`)`+optionValue))
	}
	return compiled
}

func hideOptions(text string) string {
	for _, option := range passwordOptions {
		text = replace(option, text, func(m []string) string {
			value := m[2]
			if quote := value[:1]; strings.ContainsAny(quote, `'"`) && len(value) > 2 {
				return m[1] + quote + Hidden + quote
			}
			return m[1] + Hidden
		})
	}
	return text
}
