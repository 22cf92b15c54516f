package client

import "testing"

func TestToken(t *testing.T) {
	a, b := NewToken("ann"), NewToken("ann")
	if a == b || Digest(a) == Digest(b) || checkDigest(Digest(a)) != nil {
		t.Errorf("%q and %q: want two tokens with digests", a, b)
	}
	for _, name := range []string{"ann", "dom\\ain user", "ä;b=c"} {
		if got, ok := TokenUser(NewToken(name)); !ok || got != name {
			t.Errorf("%q: its token names %q, %v", name, got, ok)
		}
	}
	for _, text := range []string{"", "a", "a.", "a.!", "." + "YQ=="} {
		if _, ok := TokenUser(text); ok {
			t.Errorf("%q: want that it is no token", text)
		}
	}
	for _, text := range []string{"", "x", Digest(a)[1:], Digest(a) + "A", "+" + Digest(a)[1:]} {
		if checkDigest(text) == nil {
			t.Errorf("%q: want that it is no digest", text)
		}
	}
}
