{{- define "mesh.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}
{{- define "mesh.labels" -}}
app.kubernetes.io/name: mesh
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}
