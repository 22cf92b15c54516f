//go:build !rivals

package main

import (
	"strings"
	"testing"

	"github.com/oxgang/oxgang/opt/engine"
	"github.com/oxgang/oxgang/policy/registry"
)

// The scheduler contains no engine but the default. A policy that names another one is refused with the reason.
func TestEngines(t *testing.T) {
	for _, name := range engine.Names() {
		const want = "this program does not contain it, want price"
		_, err := registry.New("oxgang", map[string]string{"solver": name})
		switch {
		case name == "price" && err != nil:
			t.Errorf("%s: %v", name, err)
		case name != "price" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: error %v, want %q", name, err, want)
		}
	}
}
