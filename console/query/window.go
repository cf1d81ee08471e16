package query

import "strings"

// windows takes those that a SELECT gives names.
func (p *parser) windows() (all []*Window) {
	for {
		at := p.now().at
		name := p.name("a name for the window")
		p.expect("as")
		w := p.window()
		w.At, w.Name = at, &name
		all = append(all, w)
		if !p.acceptSign(",") {
			return all
		}
	}
}

// over takes what stands behind OVER: a name, or a window of its own.
func (p *parser) over() *Window {
	if p.now().sign("(") {
		return p.window()
	}
	at := p.now().at
	name := p.name("a window")
	return &Window{At: at, Name: &name}
}

func (p *parser) window() *Window {
	w := &Window{At: p.now().at}
	p.open("(")
	if t := p.now(); t.isName() && !t.word("partition", "range", "rows", "groups") {
		base := p.take().name()
		w.Base = &base
	}
	if p.accept("partition") {
		p.expect("by")
		w.Partition = p.list()
	}
	if p.accept("order") {
		p.expect("by")
		w.Order = p.terms()
	}
	if p.now().word("range", "rows", "groups") {
		w.Frame = strings.Join(p.frame(), " ")
	}
	p.close(")")
	return w
}

// frame takes the words of a frame: they hold constants only, so that text is
// enough to hand it on.
func (p *parser) frame() []string {
	words := []string{upper(p.take().text)}
	if p.accept("between") {
		words = append(append(words, "BETWEEN"), p.bound()...)
		p.expect("and")
		words = append(append(words, "AND"), p.bound()...)
	} else {
		words = append(words, p.bound()...)
	}
	if !p.accept("exclude") {
		return words
	}
	return append(append(words, "EXCLUDE"), p.excluded()...)
}

// bound takes one end of a frame.
func (p *parser) bound() (words []string) {
	switch t := p.now(); {
	case p.accept("current", "row"):
		return []string{"CURRENT", "ROW"}
	case p.accept("unbounded"):
		words = append(words, "UNBOUNDED")
	case t.kind == aNumber:
		words = append(words, p.take().text)
	case t.kind == aString:
		words = append(words, quote(p.take().text))
	case t.word("interval") && p.ahead(1).kind == aString:
		words = p.intervalBound()
	default:
		p.noBound(t)
	}
	if !p.now().word("preceding", "following") {
		p.noBound(p.now())
	}
	return append(words, upper(p.take().text))
}

func (p *parser) intervalBound() []string {
	p.take()
	words := []string{"INTERVAL", quote(p.take().text)}
	for p.now().word("to") || p.now().word(intervalWords...) {
		words = append(words, upper(p.take().text))
	}
	return words
}

// noBound fails at what a frame cannot begin or end with.
func (p *parser) noBound(t token) {
	words := []string{"UNBOUNDED", "CURRENT", "PRECEDING", "FOLLOWING"}
	if t.kind == anEnd || t.sign(")") || p.meant(t, words) != "" {
		p.expected("the bound of a frame", words...)
	}
	p.unsupported(t.at, "a frame bound that is not a number or an interval", "write 3 PRECEDING, or UNBOUNDED PRECEDING")
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

func (p *parser) excluded() []string {
	switch {
	case p.accept("current", "row"):
		return []string{"CURRENT", "ROW"}
	case p.accept("no", "others"):
		return []string{"NO", "OTHERS"}
	case p.accept("group"):
		return []string{"GROUP"}
	case p.accept("ties"):
		return []string{"TIES"}
	}
	p.expected("CURRENT ROW, GROUP, TIES or NO OTHERS", "CURRENT", "GROUP", "TIES", "OTHERS")
	return nil
}
