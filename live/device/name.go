package device

import (
	"slices"
	"strings"
	"unicode"

	"github.com/oxgang/oxgang/model/cluster"
)

// Words of a name that do not distinguish GPU types.
var (
	makers = []string{"nvidia", "tesla", "geforce", "quadro", "graphics", "device"}
	forms  = []string{"sxm", "pcie", "nvl", "hbm", "mig"} // how it is built in; what follows says no more
)

// typeOf returns the GPU type of a driver's name: "NVIDIA A100-SXM4-80GB" is
// "a100", "NVIDIA GeForce RTX 4090" is "rtx4090". How a GPU is built in and how
// much memory it has is left out: traces and profiles name types so.
func typeOf(name string) cluster.GPUType {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var kept []string
	for _, w := range words {
		if slices.ContainsFunc(forms, func(f string) bool { return strings.HasPrefix(w, f) }) || isMemory(w) {
			break
		}
		if !slices.Contains(makers, w) {
			kept = append(kept, w)
		}
	}
	if len(kept) == 0 {
		return "gpu"
	}
	return cluster.GPUType(strings.Join(kept, ""))
}

// isMemory reports whether a word is like "80gb".
func isMemory(w string) bool {
	digits, ok := strings.CutSuffix(w, "gb")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
