"""As-of joins: the rows of each as-of stream in chains by key, and the rows that wait for their answers.

rows       the stored rows of one as-of stream
conditions what else must hold between a row and an answer
side       one as-of stream: stores, answers, forgets
waiting    rows whose answers are not all certain yet
answered   rows with their answers as rows of the result
"""
