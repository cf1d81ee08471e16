package ddl

import "fmt"

// secretKeyMax is what the column of sys.job_secrets holds.
const secretKeyMax = 128

// alterJob reads what to change: SET once or before each, with commas between
// them or without.
func (p *parser) alterJob() Statement {
	s := &AlterJob{IfExists: p.acceptBoth("IF", "EXISTS"), Name: p.name(jobName)}
	p.altering = true
	said, keys := sayings{}, map[string]bool{}
	p.change(s, said, keys, false)
	for !p.atEnd() {
		comma := p.comma()
		p.change(s, said, keys, comma)
	}
	p.checkTogether(&s.Set, said)
	return s
}

// change reads one thing to set or to drop. Behind a comma SET may be left out.
func (p *parser) change(s *AlterJob, said sayings, keys map[string]bool, comma bool) {
	switch {
	case p.accept("DROP"):
		p.expect("SECRET")
		p.secretChange(s, keys, true)
		return
	case p.accept("SET"), comma && !p.atEnd():
	case comma:
		p.unexpected("SET or DROP SECRET")
		return
	default:
		p.unexpected("SET or DROP SECRET", "SET", "DROP")
		return
	}
	if p.accept("SECRET") {
		p.secretChange(s, keys, false)
		return
	}
	p.clause(&s.Set, said, altering)
}

func (p *parser) secretChange(s *AlterJob, keys map[string]bool, drop bool) {
	at := p.tok
	c := SecretChange{Key: p.filled("the key of the secret"), Drop: drop}
	switch {
	case p.err != nil:
		return
	case len(c.Key) > secretKeyMax:
		p.failAt(at, nameTooLong, fmt.Sprintf("the key of the secret has %d bytes; at most %d are allowed", len(c.Key), secretKeyMax), "shorten it")
	case keys[c.Key]:
		p.failAt(at, badValue, "the secret "+shown(quoteString(c.Key))+" is changed twice", "remove one of them")
	}
	if !drop {
		p.expectMark("=")
		c.Value = p.secret("the value of the secret")
	}
	keys[c.Key] = true
	s.Secrets = append(s.Secrets, c)
	p.checkLength(len(s.Secrets) - 1)
}

// namesGoOn reports whether a name follows the comma that stands next, and not
// the next thing to set: that has its value behind it.
func (p *parser) namesGoOn() bool {
	if kind := p.peek().kind; kind != wordToken && kind != nameToken {
		return true // an error, which reading a name finds
	}
	behind := p.behindPeek()
	return behind.ends() || behind.isMark(",") || behind.is("SET") || behind.is("DROP")
}

// behindPeek is the third token. It is read again when its turn comes.
func (p *parser) behindPeek() token {
	p.peek()
	at, last := p.at, p.last
	t := p.next()
	p.at, p.last = at, last
	return t
}
