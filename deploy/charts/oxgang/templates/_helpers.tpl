{{/* What the names of all objects start with. */}}
{{- define "oxgang.name" -}}
{{- .Values.fullnameOverride | default .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end }}

{{- define "oxgang.serviceAccount" -}}
{{- .Values.serviceAccount.name | default (include "oxgang.name" .) -}}
{{- end }}

{{/* How the API server calls the process. */}}
{{- define "oxgang.user" -}}
system:serviceaccount:{{ .Release.Namespace }}:{{ include "oxgang.serviceAccount" . }}
{{- end }}

{{/* Not empty: the API server serves MutatingAdmissionPolicies. */}}
{{- define "oxgang.mutates" -}}
{{- if semverCompare ">=1.36.0-0" .Capabilities.KubeVersion.Version }}yes{{ end -}}
{{- end }}

{{- define "oxgang.selector" -}}
app.kubernetes.io/name: oxgang
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "oxgang.labels" -}}
{{ include "oxgang.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* CEL: the request comes from the scheduler, or from one who may do as it does. */}}
{{- define "oxgang.trusted" -}}
request.userInfo.username == '{{ include "oxgang.user" . }}'
{{- range .Values.admission.exemptGroups }} || '{{ . }}' in request.userInfo.?groups.orValue([]){{ end }}
{{- end }}

{{/* CEL: the request comes from a controller that makes the pods of jobs. */}}
{{- define "oxgang.controller" -}}
request.userInfo.username in {{ .Values.admission.controllers | toJson | replace "\"" "'" }}
{{- end }}

{{/* CEL: the object was created with the controller of another job, which is the one that counts. An owner that is
written later makes no difference. */}}
{{- define "oxgang.child" -}}
(oldObject == null ? object : oldObject).metadata.?ownerReferences.orValue([]).exists(o, o.?controller.orValue(false) && ['jobset.x-k8s.io', 'trainer.kubeflow.org', 'ray.io'].exists(g, o.apiVersion.startsWith(g + '/')))
{{- end }}

{{/* The kinds of job. */}}
{{- define "oxgang.jobs" -}}
- {apiGroups: [batch], apiVersions: [v1], operations: {{ . }}, resources: [jobs]}
- {apiGroups: [jobset.x-k8s.io], apiVersions: [v1alpha2], operations: {{ . }}, resources: [jobsets]}
- {apiGroups: [trainer.kubeflow.org], apiVersions: [v1alpha1], operations: {{ . }}, resources: [trainjobs]}
- {apiGroups: [ray.io], apiVersions: [v1], operations: {{ . }}, resources: [rayjobs]}
{{- end }}
