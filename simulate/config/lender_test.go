package config

import (
	"strings"
	"testing"
)

func TestLender(t *testing.T) {
	for _, test := range []struct{ key, value, want string }{
		{"lender.between", "", ""},
		{"lender.between", "0.42-0.95", ""},
		{"lender.between", "0-1", ""},
		{"lender.between", "0.5-0.5", ""},
		{"lender.between", "0.95-0.42", `lender.between "0.95-0.42", want trough and peak as shares`},
		{"lender.between", "0.42", `lender.between "0.42", want trough and peak as shares`},
		{"lender.between", "42-95", `lender.between "42-95", want trough and peak as shares`},
		{"lender.between", "0-0", `lender.between "0-0", want trough and peak as shares`},
		{"lender.between", "-0.1-0.5", `lender.between "-0.1-0.5", want trough and peak as shares`},
		{"lender.between", "NaN-0.5", `lender.between "NaN-0.5", want trough and peak as shares`},
		{"lender.between", "0.5-NaN", `lender.between "0.5-NaN", want trough and peak as shares`},
		{"lender.load", "w.csv", ""},
		{"lender.load", "-", "lender.load -, want a file"},
		{"lender.forecast", "naive", ""},
		{"lender.forecast", "lstm", `lender.forecast "lstm", want seasonal, last, naive or none`},
	} {
		c := Default()
		if err := c.Set(test.key, test.value, "test"); err != nil {
			t.Fatal(err)
		}
		switch err := c.Validate(); {
		case test.want == "" && err != nil:
			t.Errorf("%s=%s: %v", test.key, test.value, err)
		case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
			t.Errorf("%s=%s: got error %v, want %s", test.key, test.value, err, test.want)
		}
	}
	l := Lender{Between: "0.42-0.95"}
	if low, high, err := l.Range(); low != 0.42 || high != 0.95 || err != nil {
		t.Errorf("got %v to %v, %v", low, high, err)
	}
}
