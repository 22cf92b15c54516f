package local

import (
	"slices"
	"strings"
	"unicode"

	"github.com/oxgang/oxgang/model/cluster"
)

var (
	makers = []string{"nvidia", "tesla", "geforce", "quadro", "graphics", "device"}
	forms  = []string{"sxm", "pcie", "nvl", "hbm", "mig"}
)

// typeOf returns "a100" for "NVIDIA A100-SXM4-80GB" and "rtx4090" for "NVIDIA GeForce RTX 4090".
func typeOf(name string) cluster.GPUType {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r)
	})
	var parts []string
	for _, w := range words {
		if slices.ContainsFunc(forms, func(f string) bool { return strings.HasPrefix(w, f) }) || isMemory(w) {
			break
		}
		if !slices.Contains(makers, w) {
			parts = append(parts, w)
		}
	}
	if len(parts) == 0 {
		return "gpu"
	}
	return cluster.GPUType(strings.Join(parts, ""))
}

func isMemory(w string) bool {
	digits, ok := strings.CutSuffix(w, "gb")
	return ok && digits != "" && strings.Trim(digits, "0123456789") == ""
}
