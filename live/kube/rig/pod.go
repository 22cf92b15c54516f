package rig

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	// ExitCode is an annotation on a pod of a fake node: it ends with that code.
	ExitCode = "rig.oxgang.dev/exit"
	// ExitAfter is an annotation on a pod that has ExitCode: how long after it runs it ends, as
	// "2s". At once, if it has none.
	ExitAfter = "rig.oxgang.dev/exit-after"
	// StopAfter is an annotation on a pod of a fake node: how long it takes to end when it
	// is deleted, as "2s". At once, if it has none.
	StopAfter = "rig.oxgang.dev/stop-after"
)

// Exit ends a running pod of a fake node with an exit code.
func (c *Cluster) Exit(ctx context.Context, p *corev1.Pod, code int) error {
	data := fmt.Sprintf(`{"metadata":{"annotations":{%q:"%d"}}}`, ExitCode, code)
	_, err := c.Client().CoreV1().Pods(p.Namespace).
		Patch(ctx, p.Name, types.MergePatchType, []byte(data), v1.PatchOptions{})
	if err != nil {
		return fmt.Errorf("end pod %s/%s: %w", p.Namespace, p.Name, err)
	}
	return nil
}
