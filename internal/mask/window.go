package mask

// windowMax is how many bytes of a text are compared at one position: the length of the longest pattern.
const windowMax = 72

// spanMax is how many bytes of a text are decoded for them.
const spanMax = 1 << 10

// breaksMax is how many bytes of a line break may stand between two characters of an encoded value.
const breaksMax = 2

// window is the beginning of a text without its escapes.
type window struct {
	text   [windowMax + 4]byte
	ends   [windowMax + 4]int // where the unit of each byte ends in the text
	n      int
	at     int  // bytes of the text that were read
	breaks int  // line breaks since the last byte
	over   bool // nothing is added any more
	ended  bool // the text ended, so that what follows it may belong to the window
}

// read adds units until the window has a number of bytes.
func (w *window) read(text []byte, most int, encoded bool) {
	for w.n < most && w.at < spanMax && !w.over {
		if w.at == len(text) {
			w.over, w.ended = true, true
			return
		}
		if c := text[w.at]; kinds[c] == 0 {
			w.at++
			w.breaks = 0
			w.addByte(c, w.at, encoded)
			continue
		}
		u := readUnit(text[w.at:])
		switch {
		case u.cut:
			w.over, w.ended = true, true
			return
		case w.n == 0 && u.n == 0: // a pattern begins at what follows
			w.over = true
		case encoded && u.n == 1 && (u.value[0] == '\n' || u.value[0] == '\r'):
			w.breaks++
			w.over = w.n == 0 || w.breaks > breaksMax
		default:
			w.breaks = 0
			for _, b := range u.bytes() {
				w.addByte(b, w.at+u.size, encoded)
			}
		}
		w.at += u.size
	}
}

func (w *window) addByte(b byte, end int, encoded bool) {
	if encoded {
		b = inBase64[b]
	}
	w.text[w.n], w.ends[w.n] = b, end
	w.n++
}
